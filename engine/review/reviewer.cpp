#include "engine/review/reviewer.h"

#include "engine/review/review.h"
#include "engine/review/runner_place.h"

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

std::vector<Result<Screening>> Reviewer::screen(KernelRef original,
                                                std::span<const KernelRef> candidates,
                                                const std::stop_token& stop,
                                                const ReviewOptions& options) const {
    const std::uint64_t seed = options.seed.value_or(1);
    if (options.measure && options.place != nullptr)
        return options.place->screen(original, candidates, seed, stop);
    const bool canMeasure = executor_ != nullptr && gpu_ && options.measure;
    const auto gpu = canMeasure
                         ? gpu_(stop, {})
                         : std::unexpected(Error{ErrorKind::Missing, "there is no GPU", {}, {}});
    if (!gpu)
        return noneTimed(candidates.size(), gpu.error().what);
    return RunnerPlace(**gpu, *executor_).screen(original, candidates, seed, stop);
}

} // namespace kernelskill::engine
