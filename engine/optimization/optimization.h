/// What an optimisation is asked, what it did and what it found. Plain data.
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
    int beam = 3;  ///< Plans that a round tries.
    int slots = 0; ///< Of them, at once; 0: as many as this machine has cores for.
    /// Of the inputs that edits are checked on; nullopt: a fresh one, which the result names.
    std::optional<std::uint64_t> seed = std::nullopt;
    bool measure = false; ///< On the GPU, which is there; else the cost model judges.
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

/// How one text of the kernel performs. Null and nullopt: not known.
struct Standing {
    std::shared_ptr<const Bottleneck> bottleneck;
    std::optional<CostEstimate> cost;
    std::optional<MeasuredRoofline> measured;
    std::optional<LaunchSpec> launch; ///< That it was run with.
    std::string compilerRefusal;      ///< Of the GPU's compiler; empty where it takes the kernel.
    std::shared_ptr<const Profile> profile;
    std::optional<StaticFacts> facts;
    std::optional<analysis::Occupancy> occupancy; ///< Of `launch`, with the facts.
};

/// One plan, tried on one version of the kernel. Versions are numbered in the order in which they
/// were kept; 0 is the original.
struct Attempt {
    int round = 0;                                ///< From 1.
    int number = 0;                               ///< From 1, over all rounds.
    int from = 0;                                 ///< The version that it edits.
    std::shared_ptr<const Bottleneck> bottleneck; ///< Of that version.
    RankedSkill plan;
    std::vector<RuledOut> ruledOut; ///< For that version.
    std::optional<Verdict> verdict; ///< On the edit alone; nullopt: it was not reviewed.
    /// On all edits since the original together; nullopt: not asked for, or the same as `verdict`.
    std::optional<Verdict> sum;
    bool isRemembered = false; ///< `verdict` is that of an earlier run.
    std::optional<Standing> before;
    std::optional<Standing> after;
    bool isKept = false;
    int version = 0;      ///< That it made, if it was kept.
    std::string decision; ///< Why it was kept or not, one sentence.
    /// Of a plan that was dropped; nullopt: nobody knows more than `decision` says.
    std::optional<CandidateDiagnosis> diagnosis;
    std::string diff; ///< Of the edit alone.
};

struct Optimization {
    std::string kernel;
    std::string executor; ///< "emulator", "gpu" or "slurm": what judged.
    std::uint64_t seed = 0;
    std::vector<Attempt> attempts;
    int rounds = 0; ///< Begun.
    Standing base;
    std::optional<Standing> best;    ///< nullopt: nothing is better than the original.
    std::vector<std::string> skills; ///< That lead from the original to the best, in order.
    analysis::EditSet edits;         ///< All of them, against the original; empty without a best.
    std::string diff;
    std::optional<Verdict> verdict; ///< On the sum of the edits.
    /// By the model, where nothing was measured; to rank by, not to promise.
    std::optional<double> modelledGain;
    StopReason stop = StopReason::NoPlanLeft;
    std::string stopText;           ///< One sentence.
    std::vector<RuledOut> ruledOut; ///< For the version that the search ended at.
    std::string notRemembered;      ///< Why memory could not be written; empty when it was.

    [[nodiscard]] bool isImproved() const { return best.has_value(); }
};

} // namespace kernelskill::engine
