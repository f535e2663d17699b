/// Loads that lie whole steps of a loop, or of an axis of the launch, apart: a stencil's points.
#pragma once

#include "analysis/nest/nest.h"
#include "skills/base/skill.h"

#include <span>
#include <vector>

namespace kernelskill::skills {

/// One of the loads, by its distance to the first one of its group.
struct NeighbourLoad {
    analysis::NestAccessId access = analysis::noId;
    analysis::ExprId expression = analysis::noId; ///< The access, or `__ldg(...)` around it.
    analysis::Span text;                          ///< To replace: of a macro its whole use.
    int step = 0;
};

/// Loads of one array that would be the same element if their rounds were the same number.
struct NeighbourLoads {
    analysis::NestArrayId array = analysis::noId;
    std::vector<NeighbourLoad> loads; ///< By their place in the source.
    int first = 0;                    ///< The smallest and the largest step.
    int last = 0;

    /// Loads that a thread saves a round if it keeps what it has.
    [[nodiscard]] int saved() const { return last - first; }
    /// nullptr: the group has no load at that distance.
    [[nodiscard]] const NeighbourLoad* at(int step) const;
    [[nodiscard]] bool hasAllSteps() const;
};

/// What counts the rounds: the iterator of a loop, or the symbols of an axis.
struct RoundCounter {
    /// An index may hold one of them.
    std::vector<analysis::Symbol> symbols;
    std::int64_t step = 1; ///< Of a loop.
};

/// The position, the thread and the block along an axis.
[[nodiscard]] RoundCounter roundsAlong(const analysis::Nest& nest, std::uint8_t axis);

/// The coefficient of the counter in an index that is followed and holds it in no other way;
/// nullopt for all others.
[[nodiscard]] std::optional<analysis::IndexExpression> strideOf(const analysis::Nest& nest,
                                                                const RoundCounter& counter,
                                                                const analysis::NestAccess& access);

/// The groups, of two steps or more, of those global loads of the kernel's own text that each round
/// makes of `statements`, neighbours in a block. Loads under conditions or in loops of their own
/// are left out, as are those that come out of macros in part.
[[nodiscard]] std::vector<NeighbourLoads>
neighbourLoads(const SkillContext& context, const RoundCounter& counter,
               std::span<const analysis::StmtId> statements);

/// The statement of `statements` that holds the expression with nothing conditional between; noId:
/// none does.
[[nodiscard]] analysis::StmtId plainHolder(const analysis::CodeMap& code,
                                           std::span<const analysis::StmtId> statements,
                                           analysis::ExprId expr);

} // namespace kernelskill::skills
