#include "engine/review/proof_step.h"

#include "engine/proof/proof.h"

#include <spdlog/fmt/fmt.h>

#include <cctype>
#include <cstddef>
#include <utility>

namespace kernelskill::engine {

void takeProof(KernelRef original, KernelRef candidate, skills::Numerics numerics, TrialPlan& plan,
               Verdict& verdict) {
    const Proof proof = prove(original, candidate, numerics);
    if (!proof) {
        verdict.confidence = plan.trials.size() > 1 ? Confidence::Strong : Confidence::Weak;
        return;
    }
    verdict.confidence = Confidence::Proved;
    verdict.proof = proof->sentence();
    verdict.checks.push_back({"proved", true, verdict.proof});
    keepOneRun(plan);
}

void keepOneRun(TrialPlan& plan) {
    // What a program computed with is known, and worth a run of its own.
    for (std::size_t i = plan.trials.size(); i-- > 1;)
        if (!plan.trials[i].isReplay)
            plan.trials.erase(plan.trials.begin() + static_cast<std::ptrdiff_t>(i));
    if (!plan.trials.empty())
        plan.trials.front().seeds = 1;
}

std::string withProof(const Verdict& verdict, std::string summary) {
    if (verdict.proof.empty())
        return summary;
    std::string proof = verdict.proof;
    proof.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(proof.front())));
    return fmt::format("{} {}.", summary, proof);
}

} // namespace kernelskill::engine
