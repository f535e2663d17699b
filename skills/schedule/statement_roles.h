/// Tells which statements run once for several parts of a kernel's work, and which for each of
/// them. Parts are blocks of the old launch that become one, warps of a block that become one, or
/// rounds of a loop that run at once.
#pragma once

#include "skills/base/skill.h"
#include "skills/schedule/statement_effects.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace kernelskill::skills {

enum class PartKind : std::uint8_t { Blocks, Warps, Rounds };

/// Tells parts apart.
struct PartOrigin {
    PartKind kind = PartKind::Rounds;
    std::uint8_t blockAxis = 0; ///< If parts are blocks: they differ in blockIdx along this axis.
    /// The block of code that parts run: the kernel's, or the loop's body.
    analysis::StmtId root = analysis::noId;
    /// Variables that differ between parts to begin with.
    std::set<analysis::VariableId> differing;
    /// The loop's index, one of them, which each part has for its own; noId of blocks.
    analysis::VariableId index = analysis::noId;
};

/// Blocks along an axis as parts: shared memory differs.
[[nodiscard]] PartOrigin blocksAlong(const SkillContext& context, std::uint8_t axis);
/// The warps of a block as parts: they differ in threadIdx, and have shared memory in common.
[[nodiscard]] PartOrigin warpsOfBlock(const SkillContext& context);

enum class StatementRole : std::uint8_t {
    Barrier, ///< All threads of the block meet, once for all parts.
    /// A loop, branch or block that is the same for all parts, and in which these run side by side:
    /// one with barriers, or, of rounds, a loop and what is around one.
    Opened,
    Once, ///< The same for all parts.
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
    /// The run stands in the outermost block of code, with nothing but declarations behind it.
    bool isLast = false;
};

/// The constructor works everything out. Keeps a reference to the context.
class StatementRoles {
public:
    StatementRoles(const SkillContext& context, PartOrigin origin);

    [[nodiscard]] const PartOrigin& origin() const { return origin_; }
    /// The role of a statement of an opened block of code; nullopt inside of others.
    [[nodiscard]] std::optional<StatementRole> roleOf(analysis::StmtId statement) const;

    [[nodiscard]] const std::vector<PartedRun>& runs() const { return runs_; }
    /// Whether the values of a variable may differ between parts.
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
    [[nodiscard]] StatementRole findRole(analysis::StmtId statement);
    [[nodiscard]] bool canOpen(const analysis::Stmt& statement, analysis::StmtId id) const;
    [[nodiscard]] bool differs(const StatementEffects& effects) const;
    [[nodiscard]] bool asksForPart(const StatementEffects& effects) const;
    [[nodiscard]] bool isBareDeclaration(const analysis::Stmt& statement) const;
    [[nodiscard]] bool isGroupDeclaration(const analysis::Stmt& statement) const;
    [[nodiscard]] bool isGroup(analysis::VariableId variable) const;
    [[nodiscard]] bool isLeavingBranch(const analysis::Stmt& statement) const;
    [[nodiscard]] bool holdsBarrier(analysis::StmtId statement) const;
    void findRuns(analysis::StmtId block);
    void addRun(std::vector<RoledStatement> run);

    const SkillContext& context_;
    const analysis::FunctionBody& body_;
    PartOrigin origin_;
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
