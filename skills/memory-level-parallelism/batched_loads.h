/// Finds loads that a counted loop could make for several rounds at once.
#pragma once

#include "analysis/queries/code_map.h"
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
    AdvancingLoop head;
    std::vector<BatchedLoad> loads; ///< At least one, in the order of the source.
    std::vector<analysis::StmtId> breaks;
    int rounds = 4; ///< The number of rounds that are loaded, or tested, at once.
    /// If set, groups of rounds are tested in front of the loop, which stays as it is.
    std::optional<SearchCondition> search;
};

/// The loop at the cursor, else the first that fits. Refuses with the first gate that does not
/// hold, e.g. `no-loop`, `not-counted-up`, `no-load-to-batch`, `may-alias`, `compiler-may-reorder`.
[[nodiscard]] Gated<BatchedLoop> findBatchedLoop(const SkillContext& context,
                                                 const analysis::CodeMap& code);

} // namespace kernelskill::skills
