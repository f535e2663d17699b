/// Copies parts of a host function into generated code.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/source_layout.h"
#include "skills/editing/code_lines.h"

#include <vector>

namespace kernelskill::engine {

class CopiedText {
public:
    /// Keeps references to all three arguments.
    CopiedText(const analysis::SourceText& source, const analysis::KernelModel& function,
               const analysis::SourceLayout& layout)
        : source_(source), function_(function), layout_(layout) {}

    /// Adds the lines of `span` with `parts` replaced. Omits blank lines at both ends, and pragmas
    /// for the CPU's threads.
    void add(skills::CodeLines& lines, analysis::Span span,
             std::vector<analysis::TextEdit> parts = {}) const;
    void addComments(skills::CodeLines& lines, analysis::Span span) const;

    /// The text before a statement of the function's own block, from the end of the previous
    /// statement and its comment on that line.
    [[nodiscard]] analysis::Span gapBefore(analysis::StmtId statement) const;
    /// The statement with the comments before it and behind it on its line.
    [[nodiscard]] analysis::Span withComments(analysis::StmtId statement) const;

private:
    [[nodiscard]] std::string minIndentation(analysis::Span span) const;

    const analysis::SourceText& source_;
    const analysis::KernelModel& function_;
    const analysis::SourceLayout& layout_;
};

} // namespace kernelskill::engine
