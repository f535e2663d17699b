/// Changes of a kernel's text that several primitives add to.
#pragma once

#include "analysis/queries/source_layout.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::skills {

/// Keeps references to the context's models.
class Draft {
public:
    explicit Draft(const SkillContext& context)
        : source_(*context.file.source), body_(context.kernel.body),
          layout_(source_, context.kernel) {}

    [[nodiscard]] const analysis::SourceLayout& layout() const { return layout_; }

    void replace(analysis::Span span, std::string text) {
        edits_.push_back({span, std::move(text)});
    }
    /// Lines at the statement's indentation, without line ends: each begins behind those added
    /// before at the same place. A statement's pragma counts as part of it.
    void before(analysis::StmtId statement, const std::vector<std::string>& lines);
    void after(analysis::StmtId statement, const std::vector<std::string>& lines);
    /// Lines with their own indentation, at the statement's place as above.
    void insertBefore(analysis::StmtId statement, const std::string& text);
    void insertAfter(analysis::StmtId statement, const std::string& text);
    /// The statement, which stands on its own lines in a block, one level deeper behind
    /// `if (condition)`.
    void guard(analysis::StmtId statement, const std::string& condition);
    /// Puts brackets around the statement, a branch or a loop's body that ends its line.
    void bracket(analysis::StmtId branch);
    /// Takes the statement away with its lines.
    void remove(analysis::StmtId statement);
    /// Moves the lines of `span`, its first one excepted, one level to the right, and with them
    /// what is added to them other than by insertBefore() and insertAfter().
    void indent(analysis::Span span) { indented_.push_back(span); }

    /// `lines` one level deeper behind `head`, in brackets if they are several.
    [[nodiscard]] std::vector<std::string> controlled(const std::string& head,
                                                      std::vector<std::string> lines) const;

    [[nodiscard]] std::vector<analysis::TextEdit> edits() const;

private:
    struct Added {
        std::string text;
        bool follows = false; ///< It is indented with the lines around it.
    };

    void add(std::uint32_t offset, const std::string& indentation,
             const std::vector<std::string>& lines);
    [[nodiscard]] bool isIndented(std::uint32_t offset) const;

    const analysis::SourceText& source_;
    const analysis::FunctionBody& body_;
    analysis::SourceLayout layout_;
    std::vector<analysis::TextEdit> edits_;
    std::map<std::uint32_t, std::vector<Added>> added_; ///< By the offset that they stand at.
    std::vector<std::pair<std::uint32_t, std::string>> guards_;
    std::vector<analysis::Span> indented_;
};

/// No other code stands on the lines that the statements, neighbours in a block, begin and end on.
[[nodiscard]] bool hasOwnLines(const analysis::FunctionBody& body,
                               const analysis::SourceLayout& layout, analysis::StmtId first,
                               analysis::StmtId last);

} // namespace kernelskill::skills
