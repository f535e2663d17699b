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
    analysis::Span text;                          ///< The text to replace: a macro's whole use.
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

/// The symbols that count rounds: the iterator of a loop, or those of an axis.
struct RoundCounter {
    /// An index may hold one of them.
    std::vector<analysis::Symbol> symbols;
    std::int64_t step = 1; ///< A round of a loop adds it.
};

/// The position, the thread and the block along an axis.
[[nodiscard]] RoundCounter roundsAlong(const analysis::Nest& nest, std::uint8_t axis);

/// The coefficient of the counter in an access's index; nullopt where the index is not known, or
/// depends on the counter in another way too.
[[nodiscard]] std::optional<analysis::IndexExpression> strideOf(const analysis::Nest& nest,
                                                                const RoundCounter& counter,
                                                                const analysis::NestAccess& access);

/// Groups the global loads that each round makes in `statements`, neighbours in a block. Each group
/// has two steps or more. Loads under conditions or in loops of their own
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
