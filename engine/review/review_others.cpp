#include "engine/review/other_kernels.h"
#include "engine/review/review.h"

#include <spdlog/fmt/fmt.h>

#include <set>
#include <utility>

namespace kernelskill::engine {

bool Review::keepsOtherKernels() {
    if (!reviewsOthers_)
        return true;
    const GpuSource noGpu;
    const ProgressSink silent;
    std::set<std::string> fused;
    for (const FusedKernel& kernel : replaced_.fused)
        fused.insert({kernel.first, kernel.second});
    for (const std::string& name : otherChangedKernels(original_, candidate(), fused)) {
        report(fmt::format("checking {}, which the edit changes as well", name), 0.97);
        const auto* kernel = analysis::kernelNamed(original_.file(), name);
        Review other(executor_, toolchain_, {original_.program, *kernel}, accuracy_, noGpu,
                     {.measure = false,
                      .otherKernels = false,
                      .isSumOfReviewed = isSumOfReviewed_,
                      .seed = seeds_()},
                     stop_, silent);
        auto verdict = other.run(edits_);
        if (!verdict) {
            trouble_ = verdict.error();
            return false;
        }
        std::string check = fmt::format("keeps {}, which the edit changes as well", name);
        if (verdict->status != VerdictStatus::Unmeasured)
            return take(std::unexpected(FailedCheck{
                verdict->status, std::move(check), verdict->summary, verdict->isAboutEdit,
                verdict->failure ? *verdict->failure : ReviewFailure{}}));
        static_cast<void>(take(held(std::move(check), verdict->summary)));
    }
    return true;
}

} // namespace kernelskill::engine
