/// Parts of a host function, copied into code that is written from it.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/source_layout.h"
#include "skills/editing/code_lines.h"

#include <vector>

namespace kernelskill::engine {

class CopiedText {
public:
    /// Keeps references to all three.
    CopiedText(const analysis::SourceText& source, const analysis::KernelModel& function,
               const analysis::SourceLayout& layout)
        : source_(source), function_(function), layout_(layout) {}

    /// The lines of `span` with `parts` of it replaced; blank ones at both ends and pragmas for the
    /// CPU's threads are left out.
    void add(skills::CodeLines& lines, analysis::Span span,
             std::vector<analysis::TextEdit> parts = {}) const;
    void addComments(skills::CodeLines& lines, analysis::Span span) const;

    /// From behind what stands in front of a statement of the function's own block, with its
    /// comment on the same line, to the statement.
    [[nodiscard]] analysis::Span gapBefore(analysis::StmtId statement) const;
    /// The statement, comments in front of it and behind it on its line.
    [[nodiscard]] analysis::Span withComments(analysis::StmtId statement) const;

private:
    [[nodiscard]] std::string leastIndentation(analysis::Span span) const;

    const analysis::SourceText& source_;
    const analysis::KernelModel& function_;
    const analysis::SourceLayout& layout_;
};

} // namespace kernelskill::engine
