/// Tells which statements of a kernel a block runs once for several blocks of the old launch, and
/// which it runs for each of them, called parts.
#pragma once

#include "skills/base/skill.h"
#include "skills/schedule/statement_effects.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace kernelskill::skills {

enum class StatementRole : std::uint8_t {
    Barrier, ///< All threads of the block meet, once for all parts.
    Opened,  ///< A loop, branch or block that is the same for all parts and has barriers in it.
    Once,    ///< The same for all parts.
    OnceDeclaration,
    BareDeclaration, ///< Declares shared memory or variables without a value.
    Parted,          ///< Differs between parts, or changes memory.
};

struct RoledStatement {
    analysis::StmtId statement = analysis::noId;
    StatementRole role = StatementRole::Parted;
};

/// Statements that are neighbours in a block of code. The first and the last are parted; the others
/// are parted or declarations.
struct PartedRun {
    std::vector<RoledStatement> statements;
    /// The run stands in the kernel's outermost block, with nothing but declarations behind it.
    bool isLast = false;
};

/// The constructor works everything out. Keeps a reference to the context.
class StatementRoles {
public:
    /// Parts are blocks that differ in blockIdx along `axis`.
    StatementRoles(const SkillContext& context, std::uint8_t axis);

    [[nodiscard]] const std::vector<PartedRun>& runs() const { return runs_; }
    /// Whether the values of a variable may differ between parts; true for shared memory.
    [[nodiscard]] bool differs(analysis::VariableId variable) const {
        return differing_.contains(variable);
    }
    /// The barriers at which parts meet together.
    [[nodiscard]] std::size_t commonBarriers() const { return commonBarriers_; }
    /// The index of the run that holds the statement; nullopt if none does.
    [[nodiscard]] std::optional<std::size_t> runOf(analysis::StmtId statement) const;

private:
    void classify(analysis::StmtId block);
    [[nodiscard]] std::vector<analysis::StmtId> blocksOf(analysis::StmtId opened) const;
    [[nodiscard]] StatementRole roleOf(analysis::StmtId statement);
    [[nodiscard]] bool differs(const StatementEffects& effects) const;
    [[nodiscard]] bool isBareDeclaration(const analysis::Stmt& statement) const;
    [[nodiscard]] bool isGroupDeclaration(const analysis::Stmt& statement) const;
    [[nodiscard]] bool isGroup(analysis::VariableId variable) const;
    [[nodiscard]] bool isLeavingBranch(const analysis::Stmt& statement) const;
    [[nodiscard]] bool holdsBarrier(analysis::StmtId statement) const;
    void findRuns(analysis::StmtId block);
    void addRun(std::vector<RoledStatement> run);

    const SkillContext& context_;
    const analysis::FunctionBody& body_;
    std::uint8_t axis_;
    std::vector<analysis::StmtId> barriers_;
    std::map<analysis::StmtId, StatementEffects> effects_; ///< As far as they were asked for.
    std::map<analysis::StmtId, StatementEffects> controls_;
    std::map<analysis::StmtId, StatementRole> roles_;
    std::set<analysis::VariableId> differing_;
    std::vector<PartedRun> runs_;
    std::map<analysis::StmtId, std::size_t> runOf_; ///< Of the statements of each run.
    std::size_t commonBarriers_ = 0;
};

} // namespace kernelskill::skills
