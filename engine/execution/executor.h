/// Runs kernels in another process or on another machine.
#pragma once

#include "engine/execution/job.h"
#include "engine/execution/kernel_ref.h"
#include "engine/execution/profile.h"

#include <chrono>
#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>

namespace kernelskill::engine {

/// A compiled kernel. Valid as long as its executor; shared and immutable.
class Image {
public:
    virtual ~Image() = default;
};

/// A result, and how long the run took that gave it.
struct TimedRun {
    RunResult result;
    std::chrono::milliseconds took{0};
};

class Executor {
public:
    virtual ~Executor() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;

    /// Compiles one kernel with the template arguments of `launch`. Results are cached by content.
    /// Errors: Unsupported, with `where` = file:line, if this executor refuses a feature by name;
    /// Failed for compile errors; Missing if a tool is missing. Thread-safe.
    [[nodiscard]] virtual Result<std::shared_ptr<const Image>>
    build(KernelRef kernel, const LaunchSpec& launch, std::stop_token stop) = 0;

    /// Runs a job. A crash, a hang or a refusal of the kernel is an error value. Hazards that do
    /// not end the run are in the profile. Thread-safe.
    [[nodiscard]] virtual Result<RunResult> run(const Image& image, const Job& job,
                                                std::stop_token stop) = 0;

    /// As run(), for a run that is asked for again and again, such as that of the original in the
    /// reviews of several edits: the executor may recall the result of an equal one.
    [[nodiscard]] virtual Result<TimedRun> runOrRecall(const Image& image, const Job& job,
                                                       std::stop_token stop) {
        const auto begin = std::chrono::steady_clock::now();
        auto result = run(image, job, std::move(stop));
        if (!result)
            return std::unexpected(std::move(result.error()));
        return TimedRun{std::move(*result), std::chrono::duration_cast<std::chrono::milliseconds>(
                                                std::chrono::steady_clock::now() - begin)};
    }
};

} // namespace kernelskill::engine
