/// The input, the log and the result of an optimisation. Plain data.
#pragma once

#include "analysis/compile/occupancy.h"
#include "analysis/source/text_edit.h"
#include "engine/diagnosis/cost_model.h"
#include "engine/diagnosis/measured_roofline.h"
#include "engine/planning/plan.h"
#include "engine/static_facts/static_facts.h"
#include "engine/verdict/candidate_diagnosis.h"
#include "engine/verdict/verdict.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct OptimizationOptions {
    int rounds = 8;
    std::chrono::seconds time{300};
    int beam = 3;  ///< The plans that a round tries.
    int slots = 0; ///< The plans that are tried at once; 0: as many as this machine has cores for.
    /// The seed of the inputs that edits are checked on. nullopt: a fresh seed, which the result
    /// names.
    std::optional<std::uint64_t> seed = std::nullopt;
    /// Measure on the GPU, which must exist; if false, the cost model judges.
    bool measure = false;
    bool usesShortTermMemory = true;
    bool usesLongTermMemory = true;
};

enum class StopReason : std::uint8_t {
    AtRoofline,
    NoPlanLeft,
    Converged,
    RoundsSpent,
    TimeSpent,
    Cancelled
};
/// "roofline", "no-plan-left", "converged", "rounds", "seconds", "cancelled"
[[nodiscard]] std::string_view spelling(StopReason reason);

/// The performance of one text of the kernel. Null and nullopt mean unknown.
struct Standing {
    std::shared_ptr<const Bottleneck> bottleneck;
    std::optional<CostEstimate> cost;
    std::optional<MeasuredRoofline> measured;
    std::optional<LaunchSpec> launch; ///< The launch that it was run with.
    /// The error of the GPU's compiler; empty if it accepts the kernel.
    std::string compilerRefusal;
    std::shared_ptr<const Profile> profile;
    std::optional<StaticFacts> facts;
    std::optional<analysis::Occupancy> occupancy; ///< The occupancy of `launch`; needs the facts.
};

/// One plan, tried on one version of the kernel. Versions are numbered in the order in which they
/// were kept; 0 is the original.
struct Attempt {
    int round = 0;                                ///< Counts from 1.
    int number = 0;                               ///< Counts from 1, over all rounds.
    int from = 0;                                 ///< The version that it edits.
    std::shared_ptr<const Bottleneck> bottleneck; ///< The bottleneck of that version.
    RankedSkill plan;
    std::vector<RuledOut> ruledOut; ///< The skills ruled out for that version.
    /// The verdict on the edit alone, or with the stepping stones below it; nullopt if it was not
    /// reviewed.
    std::optional<Verdict> verdict;
    /// The verdict on all edits since the original together; nullopt if not requested or the same
    /// as `verdict`.
    std::optional<Verdict> sum;
    bool isRemembered = false; ///< Whether `verdict` comes from an earlier run.
    std::optional<Standing> before;
    std::optional<Standing> after;
    bool isPostponed = false; ///< Left for a later round: neither reviewed nor decided.
    bool isKept = false;
    int version = 0;      ///< The version that it made, if it was kept.
    std::string decision; ///< Why it was kept or not, in one sentence.
    /// For a plan that was dropped; nullopt if `decision` says all that is known.
    std::optional<CandidateDiagnosis> diagnosis;
    std::string diff; ///< The diff of the edit alone.
};

/// A plan that was tried against a bottleneck and not kept.
struct TriedMethod {
    std::string skill;
    std::string outcome; ///< Attempt::decision
    bool operator==(const TriedMethod&) const = default;
};

/// Compares the best version of a kernel with the roofline of its GPU, and says what keeps it
/// below.
struct RemainingLoss {
    std::shared_ptr<const Bottleneck> bottleneck; ///< Of the best version; never null.
    /// How many times as fast as this version the roofline is; both ends are equal if it was
    /// measured. nullopt if neither is known.
    std::optional<Interval> distance;
    bool isMeasured = false;
    /// The parts of the modelled time, the longest first; empty if it was measured.
    std::vector<CostPart> parts;
    std::vector<TriedMethod> tried;    ///< Against this bottleneck, in the order of the attempts.
    std::vector<std::string> notTried; ///< Skills that answer it, which the search did not reach.
    std::vector<Remedy> remedies;      ///< Methods that would help and are not offered, and why.
};

struct Optimization {
    std::string kernel;
    std::string executor; ///< The executor that judged: "emulator", "gpu" or "slurm".
    std::uint64_t seed = 0;
    std::vector<Attempt> attempts;
    int rounds = 0; ///< The rounds that were begun.
    Standing base;
    std::optional<Standing> best; ///< nullopt if nothing is better than the original.
    /// The skills that lead from the original to the best, in order.
    std::vector<std::string> skills;
    analysis::EditSet edits; ///< All edits against the original; empty if there is no best.
    std::string diff;
    std::optional<Verdict> verdict; ///< The verdict on the sum of the edits.
    /// The gain in the cost model, if nothing was measured. It ranks results; it is not a promise.
    std::optional<double> modelledGain;
    StopReason stop = StopReason::NoPlanLeft;
    std::string stopText; ///< One sentence.
    /// The skills ruled out for the version at which the search ended.
    std::vector<RuledOut> ruledOut;
    /// nullopt if no bottleneck of the best version is known.
    std::optional<RemainingLoss> remaining;
    std::string notRemembered; ///< Why memory could not be written; empty if it was.

    [[nodiscard]] bool isImproved() const { return best.has_value(); }
};

} // namespace kernelskill::engine
