#include "engine/verification/verification.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::engine {

ChangeOutcome outcomeOf(const Verdict& verdict) {
    switch (verdict.status) {
    case VerdictStatus::Faster:
    case VerdictStatus::Slower:
    case VerdictStatus::Inconclusive:
    case VerdictStatus::Unmeasured:
        return ChangeOutcome::Right;
    case VerdictStatus::Incorrect:
        return ChangeOutcome::Wrong;
    case VerdictStatus::Invalid:
        break;
    }
    return verdict.isAboutEdit ? ChangeOutcome::Wrong : ChangeOutcome::NotJudged;
}

ChangeOutcome Verification::outcome() const {
    ChangeOutcome worst = host ? host->outcome : ChangeOutcome::Right;
    for (const JudgedKernel& kernel : kernels)
        worst = std::max(worst, kernel.outcome);
    return worst;
}

std::string summaryOf(const Verification& verification) {
    const auto& kernels = verification.kernels;
    std::string text = kernels.empty() ? "no kernel changed"
                                       : fmt::format("{} kernel{} changed", kernels.size(),
                                                     kernels.size() == 1 ? "" : "s");
    std::string separator = ": ";
    const std::array<std::pair<ChangeOutcome, const char*>, 3> words{
        {{ChangeOutcome::Right, "right"},
         {ChangeOutcome::Wrong, "wrong"},
         {ChangeOutcome::NotJudged, "not judged"}}};
    const auto isGone = [](const JudgedKernel& kernel) {
        return kernel.change.kind == KernelChangeKind::Removed;
    };
    if (const auto gone = std::ranges::count_if(kernels, isGone); gone > 0) {
        text += fmt::format("{}{} removed", separator, gone);
        separator = ", ";
    }
    for (const auto& [outcome, word] : words) {
        std::string names;
        const auto count = std::ranges::count_if(kernels, [&](const JudgedKernel& kernel) {
            if (kernel.outcome != outcome || isGone(kernel))
                return false;
            names += (names.empty() ? "" : ", ") + kernel.change.name;
            return true;
        });
        if (count == 0)
            continue;
        text += fmt::format("{}{} {}", separator, count, word);
        if (outcome != ChangeOutcome::Right)
            text += fmt::format(" ({})", names);
        separator = ", ";
    }
    if (verification.host && verification.host->outcome != ChangeOutcome::Right)
        text += verification.host->outcome == ChangeOutcome::Wrong
                    ? "; code around kernels is wrong"
                    : "; the host may ask the GPU for other work";
    return text;
}

} // namespace kernelskill::engine
