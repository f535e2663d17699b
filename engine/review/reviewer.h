/// Reviewer: judges edits. An edit becomes acceptable in no other way.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/execution/executor.h"
#include "engine/execution/gpu/gpu_executor.h"
#include "engine/review/measuring_place.h"
#include "engine/verdict/verdict.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace kernelskill::engine {

/// Called with a short phrase ("running seed 2 of 3, n=1023") and a fraction in [0, 1]. May be
/// empty.
using ProgressSink = std::function<void(std::string_view, double)>;

struct ReviewOptions {
    /// Measure if there is a GPU. If false, an edit that passes is Unmeasured.
    bool measure = true;
    /// Run some blocks of launches that are too large to run whole. False for a kernel whose
    /// buffers are made for the file's own size.
    bool probeLargeLaunches = true;
    /// Review other kernels of the program that the edit changes as well.
    bool otherKernels = true;
    /// Compare what the host asks of the GPU, and in which order.
    bool hostCode = true;
    /// The edits are those of a sequence, each of which passed a review on the result of the ones
    /// before it: that their code is reached is known.
    bool isSumOfReviewed = false;
    /// The seed of the inputs. The same seed gives the same inputs. nullopt: a fresh seed.
    std::optional<std::uint64_t> seed = std::nullopt;
    /// The place to measure in; the GPU is used if this place cannot measure the edit, or if it is
    /// null. It outlives the review.
    MeasuringPlace* place = nullptr;
};

/// Opens the GPU to measure on. Missing if there is none; another error if none is free. May be
/// empty.
using GpuSource =
    std::function<Result<GpuExecutor*>(const std::stop_token& stop, const ProgressSink& progress)>;

class Reviewer {
public:
    /// `executor` may be null if there is no host compiler: then every verdict is Invalid with that
    /// reason.
    Reviewer(Executor* executor, const analysis::Toolchain& toolchain, GpuSource gpu = nullptr);

    /// Applies `edits` to `original`, parses the result and compiles both. Runs both on fresh
    /// inputs: several seeds and shapes, odd sizes among them. If the accuracy allows rounding,
    /// compares both with a float64 reference: each result, and all errors together. Runs the
    /// control that must fail, and compares hazards. If all checks pass and there is a GPU,
    /// measures: the verdict is Faster, Slower or Inconclusive. If it cannot measure, the verdict
    /// is Unmeasured with the reason. If the emulator cannot run the kernel, a place with a launch
    /// of its own judges alone. Never throws; a failure of the reviewer itself is an error.
    [[nodiscard]] Result<Verdict> review(KernelRef original, const analysis::EditSet& edits,
                                         const skills::Accuracy& accuracy, std::stop_token stop,
                                         const ProgressSink& progress,
                                         const ReviewOptions& options = {}) const;

    /// Times the candidates beside the original on the GPU or in the place of the options, all in a
    /// fraction of one review's time. Errors are those of MeasuringPlace::screen(), and that there
    /// is no GPU.
    [[nodiscard]] std::vector<Result<Screening>> screen(KernelRef original,
                                                        std::span<const KernelRef> candidates,
                                                        const std::stop_token& stop,
                                                        const ReviewOptions& options = {}) const;

private:
    Executor* executor_;
    const analysis::Toolchain& toolchain_;
    GpuSource gpu_;
};

} // namespace kernelskill::engine
