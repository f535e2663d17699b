/// The primitive `parts`: runs of statements become loops over parts of the work.
#pragma once

#include "skills/editing/code_lines.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/part_locals.h"

#include <functional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// The runs of a kernel, and where the variables live that they use.
struct PartedWork {
    std::vector<PartedRun> runs;
    PartLocals locals;
};

/// Reads both from the roles. Refuses as partLocals() does, with `leaves-loop` where a part leaves
/// a loop that it shares with others, and with `several-statements-a-line` where a run does not
/// have lines of its own.
[[nodiscard]] Gated<PartedWork> partedWork(const SkillContext& context,
                                           const StatementRoles& roles);

/// A loop over parts, as it is written.
struct PartLoop {
    std::string type; ///< Of its counter.
    std::string name;
    int count = 2;
    /// The subscript of shared arrays, which have `count` elements; empty if it is the part's name.
    std::string sharedIndex = {};
};

/// Keeps references to what it is given.
class PartRunWriter {
public:
    PartRunWriter(Draft& draft, const SkillContext& context, const PartedWork& work, PartLoop part);

    /// A change of the user's own statements; declarations that are repeated get it, too.
    void change(analysis::Span span, std::string text) {
        changes_.push_back({span, std::move(text)});
    }
    /// Whether the run, or a declaration that is repeated in it, holds one of the expressions.
    [[nodiscard]] bool uses(std::size_t run, const std::vector<analysis::ExprId>& all) const;

    /// Adds the lines that each part's turn in a run begins with.
    using Head = std::function<void(std::size_t run, CodeLines& lines)>;
    /// Writes the runs and all changes.
    void write(const Head& head);

private:
    void changeKept();
    [[nodiscard]] analysis::StmtId splitDeclarationOf(analysis::VariableId id) const;
    void writeRun(std::size_t index, const Head& head);
    [[nodiscard]] std::string changed(analysis::Span span) const;

    Draft& draft_;
    const SkillContext& context_;
    const analysis::FunctionBody& body_;
    const PartedWork& work_;
    PartLoop part_;
    std::vector<analysis::TextEdit> changes_;
    std::vector<analysis::Span> moved_; ///< Lines whose text stands elsewhere, changed already.
};

} // namespace kernelskill::skills
