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
struct SearchTest {
    std::vector<analysis::StmtId> locals; ///< Declarations in front of the condition.
    /// The condition that ends the loop or, in the loop's head, that lets it go on.
    analysis::Span condition;
    bool isBool = true;
    bool goesOn = false;
};

struct BatchedLoop {
    AdvancingLoop head;
    std::vector<BatchedLoad> loads; ///< At least one, in the order of the source.
    std::vector<analysis::StmtId> breaks;
    int rounds = 4; ///< As many of them are loaded at once.
    /// Set: rounds are tested ahead, and the loop stays as it is behind that.
    std::optional<SearchTest> search;
};

/// The loop at the cursor, else the first that fits. Refuses with the first gate that does not
/// hold, e.g. `no-loop`, `not-counted-up`, `no-load-to-batch`, `may-alias`, `compiler-may-reorder`.
[[nodiscard]] Gated<BatchedLoop> findBatchedLoop(const SkillContext& context,
                                                 const analysis::CodeMap& code);

} // namespace kernelskill::skills
