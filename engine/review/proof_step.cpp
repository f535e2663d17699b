#include "engine/review/proof_step.h"

#include "engine/proof/proof.h"

#include <spdlog/fmt/fmt.h>

#include <cctype>
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
    if (plan.trials.size() > 1)
        plan.trials.erase(plan.trials.begin() + 1, plan.trials.end());
    if (!plan.trials.empty())
        plan.trials.front().seeds = 1;
}

std::string withProof(const Verdict& verdict, std::string summary) {
    if (verdict.proof.empty())
        return summary;
    std::string proof = verdict.proof;
    proof.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(proof.front())));
    return fmt::format("{}. {}", proof, summary);
}

} // namespace kernelskill::engine
