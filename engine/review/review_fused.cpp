/// Reviews of edits that put one kernel in the place of two, or two in the place of one.
#include "engine/review/edited_program.h"
#include "engine/review/fused_reference.h"
#include "engine/review/review.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::engine {

bool Review::keepsKernel(const std::string& name, KernelRef kernel, const analysis::EditSet& edits,
                         std::string_view how) {
    const GpuSource noGpu;
    Review inner(executor_, toolchain_, kernel, accuracy_, noGpu,
                 {.measure = false,
                  .probeLargeLaunches = probesLargeLaunches_,
                  .otherKernels = false,
                  .isSumOfReviewed = isSumOfReviewed_,
                  .seed = seeds_()},
                 stop_, progress_);
    auto verdict = inner.run(edits);
    if (!verdict) {
        trouble_ = verdict.error();
        return false;
    }
    if (verdict->status != VerdictStatus::Unmeasured)
        return take(std::unexpected(
            FailedCheck{verdict->status, name, verdict->summary, verdict->isAboutEdit,
                        verdict->failure ? *verdict->failure : ReviewFailure{}}));
    for (Check& check : verdict->checks)
        if (check.name != verdict_.checks.front().name) // The edit was parsed.
            verdict_.checks.push_back(std::move(check));
    verdict_.confidence = verdict->confidence;
    verdict_.before = std::move(verdict->before);
    verdict_.after = std::move(verdict->after);
    verdict_.summary = std::move(verdict->summary);
    return take(held(name, std::string(how)));
}

bool Review::keepsFusedKernels() {
    for (const FusedKernel& fused : replaced_.fused) {
        const std::string name =
            fmt::format("{} does what {} and {} did", fused.name, fused.first, fused.second);
        report("checking that " + name, 0.1);
        auto reference = fusedReference(original_.program, candidate_, fused);
        if (!reference)
            return take(unusable(name, reference.error().describe()));
        ProgramSource& program = reference->program;
        auto model = analysis::analyzeFile(program.file, program.text, program.command, toolchain_,
                                           program.unsaved);
        if (!model) {
            trouble_ = model.error();
            return false;
        }
        program.model = std::make_shared<const analysis::FileModel>(std::move(*model));
        const auto* kernel = analysis::kernelNamed(*program.model, fused.name);
        if (kernel == nullptr || firstNewError(original_.file(), *program.model))
            return take(unusable(name, "the two cannot be called in its place"));
        if (!keepsKernel(name, {program, *kernel}, reference->edits,
                         "two passes over the grid against one"))
            return false;
    }
    return true;
}

bool Review::keepsSplitKernels() {
    for (const FusedKernel& split : replaced_.split) {
        const std::string name =
            fmt::format("{} and {} do what {} did", split.first, split.second, split.name);
        report("checking that " + name, 0.1);
        const auto* kernel = analysis::kernelNamed(original_.file(), split.name);
        const auto edits = splitInPasses(original_.program, candidate_, split);
        if (!edits || kernel == nullptr)
            return take(
                unusable(name, edits ? split.name + " is not known" : edits.error().describe()));
        if (!keepsKernel(name, {original_.program, *kernel}, *edits,
                         "one pass over the grid against two"))
            return false;
    }
    return true;
}

} // namespace kernelskill::engine
