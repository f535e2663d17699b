#include "engine/review/screening.h"

#include "engine/review/gpu_measurement.h"
#include "engine/review/host/host_order.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::engine {

std::optional<Screening> screenOnGpu(GpuExecutor& gpu, Executor& emulator, KernelRef original,
                                     KernelRef candidate, const skills::Accuracy& accuracy,
                                     std::uint64_t seed, const std::stop_token& stop) {
    if (changesHostOrder(original.file(), candidate.file()))
        return std::nullopt;
    auto seen = GpuMeasurer(gpu, emulator, original, candidate, accuracy).glance(seed, stop);
    if (!seen)
        return std::nullopt;
    Screening screening;
    if (!seen->agreement) {
        screening.speedup = 0;
        refuse(screening.refusal.emplace(), std::move(seen->agreement.error()));
        return screening;
    }
    screening.speedup = seen->timing->speedup;
    if (screening.speedup > 1 + minEffect)
        return screening;
    Verdict& verdict = screening.refusal.emplace();
    verdict.checks.push_back(std::move(*seen->agreement));
    verdict.speedup = screening.speedup;
    verdict.status = screening.speedup < 1 / (1 + minEffect) ? VerdictStatus::Slower
                                                             : VerdictStatus::Inconclusive;
    verdict.summary =
        fmt::format("Not faster, so it was not reviewed. Timed {}.", seen->timing->sentence);
    return screening;
}

} // namespace kernelskill::engine
