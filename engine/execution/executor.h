/// Runs kernels in another process or on another machine.
#pragma once

#include "engine/execution/job.h"
#include "engine/execution/kernel_ref.h"
#include "engine/execution/profile.h"

#include <memory>
#include <stop_token>
#include <string_view>

namespace kernelskill::engine {

/// A compiled kernel. Valid as long as its executor; shared and immutable.
class Image {
public:
    virtual ~Image() = default;
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
};

} // namespace kernelskill::engine
