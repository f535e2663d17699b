/// Finds loads that a counted loop could make for several rounds at once.
#pragma once

#include "skills/base/skill.h"
#include "skills/gates/counted_loop.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// An element that each round loads whatever else it does.
struct BatchedLoad {
    analysis::ExprId element = analysis::noId; ///< `in[i]`
    analysis::VariableId base = analysis::noId;
    std::string type; ///< "float"
    /// Further places in the loop that load the same element.
    std::vector<analysis::ExprId> again;
};

/// A loop that does nothing but look for the first round whose condition holds.
struct SearchCondition {
    std::vector<analysis::StmtId> locals; ///< Declarations in front of the condition.
    analysis::Span condition;
    bool isBool = true;  ///< The condition is of type bool.
    bool goesOn = false; ///< The loop's head has the condition: it goes on where it holds.
};

struct BatchedLoop {
    /// The device function that has the loop; null if the kernel itself has it.
    const analysis::KernelModel* function = nullptr;
    AdvancingLoop head;
    std::vector<BatchedLoad> loads;       ///< At least one, in the order of the source.
    std::vector<analysis::StmtId> locals; ///< Declarations of a round that places of loads need.
    std::vector<analysis::StmtId> breaks;
    int rounds = 4; ///< The number of rounds that are loaded, or tested, at once.
    /// Whether the loop keeps the rounds that fill no group of `rounds`, so that none is guarded.
    bool isGrouped = false;
    /// Numbers of rounds that may be loaded at once in groups: two groups are made at least, as far
    /// as is known, and the values fit into registers.
    std::vector<int> groups;
    /// Set if nothing keeps the compiler from loading for four rounds first.
    std::optional<Refusal> needless;
    /// If set, groups of rounds are tested in front of the loop, which stays as it is.
    std::optional<SearchCondition> search;
};

/// The loop at the cursor, else the first that fits, of the kernel, then of the functions that it
/// calls; one that is `needless` only if no other fits. Refuses with the first gate that does not
/// hold in the kernel, e.g. `no-loop`, `not-counted-up`, `no-load-to-batch`, `may-alias`.
[[nodiscard]] Gated<BatchedLoop> findBatchedLoop(const SkillContext& context);

} // namespace kernelskill::skills
