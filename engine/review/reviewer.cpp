#include "engine/review/reviewer.h"

#include "engine/review/review.h"

#include <utility>

namespace kernelskill::engine {

Reviewer::Reviewer(Executor* executor, const analysis::Toolchain& toolchain, GpuSource gpu)
    : executor_(executor), toolchain_(toolchain), gpu_(std::move(gpu)) {}

Result<Verdict> Reviewer::review(KernelRef original, const analysis::EditSet& edits,
                                 const skills::Accuracy& accuracy, std::stop_token stop,
                                 const ProgressSink& progress, const ReviewOptions& options) const {
    if (executor_ == nullptr) {
        Verdict verdict;
        verdict.isAboutEdit = false;
        verdict.summary =
            "invalid: there is no host compiler to run kernels with, so nothing was checked";
        verdict.checks.push_back({"can be run", false, "no executor"});
        return verdict;
    }
    Review review(*executor_, toolchain_, original, accuracy, gpu_, options, std::move(stop),
                  progress);
    return review.run(edits);
}

std::optional<Screening> Reviewer::screen(KernelRef original, KernelRef candidate,
                                          const skills::Accuracy& accuracy,
                                          const std::stop_token& stop,
                                          const ReviewOptions& options) const {
    if (executor_ == nullptr || !gpu_ || !options.measure)
        return std::nullopt;
    const auto gpu = gpu_(stop, {});
    if (!gpu)
        return std::nullopt;
    return screenOnGpu(**gpu, *executor_, original, candidate, accuracy, options.seed.value_or(1),
                       stop);
}

} // namespace kernelskill::engine
