/// The primitive `unroll-and-jam`: several rounds of a loop go through its inner loops together.
#pragma once

#include "skills/gates/counted_loop.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/part_runs.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// A load that is the same for all rounds, which a name ahead of its run stands for.
struct NamedLoad {
    analysis::ExprId expr = analysis::noId;
    std::size_t run = 0; ///< An index into PartedWork::runs.
};

struct JamPlan {
    AdvancingLoop outer;
    PartedWork work;
    std::vector<analysis::ExprId> indexUses; ///< In the outer loop's body.
    std::uint32_t inner = analysis::noId;    ///< A shared loop: an index into KernelModel::loops.
    std::string shared;                      ///< A load that rounds have in common, as text.
    std::vector<NamedLoad> named;            ///< The others are left to the compiler.
    std::optional<std::int64_t> rounds;      ///< How often the outer loop goes round, if known.
    int sharedLoads = 0;                     ///< Loads in shared loops that all rounds have.
    int ownLoads = 0;                        ///< Loads in shared loops that each round has alone.

    /// Returns the loads of `count` rounds over those that are left of them.
    [[nodiscard]] double gain(int count) const;
};

/// Finds the loop at the cursor, else the first that fits. Refuses with `no-inner-loop`, `is-rest`,
/// `barrier`, `atomic`, `warp-operation`, `unknown-call`, `address-taken`, `leaves-loop`,
/// `rounds-apart`, `stores-between`, `nothing-shared`, and what readCountingLoop(),
/// requireOwnLines(), requireDistinctWrites() and partedWork() refuse with.
[[nodiscard]] Gated<JamPlan> jamPlan(const SkillContext& context);

/// Rewrites the loop for `count` rounds at once. The rounds that are left go on as before;
/// implemented in write_jam.cpp.
void jam(Draft& draft, const SkillContext& context, const JamPlan& plan, int count);

} // namespace kernelskill::skills
