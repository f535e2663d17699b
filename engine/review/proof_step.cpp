#include "engine/review/proof_step.h"

#include "analysis/model/scalar_kinds.h"
#include "engine/proof/proof.h"
#include "engine/review/kernel_code.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Tells how far sums of a kernel can cancel.
struct Cancellation {
    std::size_t subtractions = 0;
    std::set<double> constants;
};

Cancellation cancellationIn(KernelRef kernel) {
    constexpr std::array harmless{0.0, 0.5, 1.0, 2.0};
    Cancellation found;
    for (const analysis::KernelModel* function : codeOf(kernel.file(), kernel.kernel)) {
        for (const analysis::Expr& expr : function->body.exprs) {
            const bool isDifference = expr.op == "-" || expr.op == "-=";
            if (isDifference && isFloatingScalar(expr.type.scalar))
                ++found.subtractions;
            if (expr.kind == analysis::ExprKind::Floating &&
                std::ranges::find(harmless, expr.floating) == harmless.end())
                found.constants.insert(expr.floating);
        }
    }
    return found;
}

/// Whether results that are equal as real numbers may be far from each other as floats: `x + c - c`
/// has no small digits of `x`.
bool mayCancelMore(KernelRef original, KernelRef candidate) {
    const Cancellation before = cancellationIn(original);
    const Cancellation after = cancellationIn(candidate);
    return after.subtractions > before.subtractions ||
           !std::ranges::includes(before.constants, after.constants);
}

} // namespace

void takeProof(KernelRef original, KernelRef candidate, skills::Numerics numerics, TrialPlan& plan,
               Verdict& verdict, const std::stop_token& stop) {
    const Proof proof = prove(original, candidate, numerics, stop);
    if (!proof || (proof->equality == Equality::Reals && mayCancelMore(original, candidate))) {
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
