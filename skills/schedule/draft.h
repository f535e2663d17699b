/// Changes of a kernel's text that several primitives add to.
#pragma once

#include "analysis/queries/source_layout.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// Keeps references to the context's models.
class Draft {
public:
    explicit Draft(const SkillContext& context)
        : body_(context.kernel.body), layout_(*context.file.source, context.kernel) {}

    [[nodiscard]] const analysis::SourceLayout& layout() const { return layout_; }

    void replace(analysis::Span span, std::string text) {
        edits_.push_back({span, std::move(text)});
    }
    /// Lines at the statement's indentation, without line ends: each begins behind those added
    /// before at the same place. A statement's pragma counts as part of it.
    void before(analysis::StmtId statement, const std::vector<std::string>& lines);
    void after(analysis::StmtId statement, const std::vector<std::string>& lines);

    /// `lines` one level deeper behind `head`, in brackets if they are several.
    [[nodiscard]] std::vector<std::string> controlled(const std::string& head,
                                                      std::vector<std::string> lines) const;

    [[nodiscard]] std::vector<analysis::TextEdit> edits() const;

private:
    void add(std::uint32_t offset, const std::string& indentation,
             const std::vector<std::string>& lines);

    const analysis::FunctionBody& body_;
    analysis::SourceLayout layout_;
    std::vector<analysis::TextEdit> edits_;
    std::map<std::uint32_t, std::string> lines_; ///< By the offset that they stand at.
};

/// No other code stands on the lines that the statements, neighbours in a block, begin and end on.
[[nodiscard]] bool hasOwnLines(const analysis::FunctionBody& body,
                               const analysis::SourceLayout& layout, analysis::StmtId first,
                               analysis::StmtId last);

} // namespace kernelskill::skills
