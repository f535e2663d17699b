/// Runs kernels somewhere that is not this process.
#pragma once

#include "engine/execution/job.h"
#include "engine/execution/kernel_ref.h"
#include "engine/execution/profile.h"

#include <memory>
#include <stop_token>
#include <string_view>

namespace kernelskill::engine {

/// A compiled program, valid with the executor that made it. Shared and immutable.
class Image {
public:
    virtual ~Image() = default;
};

class Executor {
public:
    virtual ~Executor() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;

    /// Compiles one kernel (with the template arguments of `launch`). Results are cached by
    /// content. Unsupported, with `where` = file:line, for what this executor refuses by name;
    /// Failed for compile errors; Missing when it lacks a tool. Thread-safe.
    [[nodiscard]] virtual Result<std::shared_ptr<const Image>>
    build(KernelRef kernel, const LaunchSpec& launch, std::stop_token stop) = 0;

    /// Runs a job. A crash, a hang or a refusal of the kernel is an error value; hazards that let
    /// the run go on are in the profile. Thread-safe.
    [[nodiscard]] virtual Result<RunResult> run(const Image& image, const Job& job,
                                                std::stop_token stop) = 0;
};

} // namespace kernelskill::engine
