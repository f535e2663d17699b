/// Inputs without configuration: a concrete launch for a kernel, from pins, launch sites or names.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/capture/capture_store.h"
#include "engine/execution/job.h"

#include <memory>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// A `// kernelskill: launch name<<<grid, block[, shared]>>>(p=expr, q=rand[expr], ...)` comment.
/// Fills: rand, zero, iota, or a number; `x=rand[n]` sizes the buffer, `x=rand[n, 0..k]` bounds
/// integers. A `__device__` or `__constant__` variable may be named like a parameter.
struct LaunchPin {
    std::string kernel;
    analysis::Span span;
    std::string text;
};

/// Pins of a file; a malformed one is an InvalidInput error with its line and the expected form.
struct LaunchPins {
    std::vector<LaunchPin> pins;
    std::vector<Error> errors;
};
[[nodiscard]] LaunchPins findLaunchPins(const analysis::FileModel& file);

/// The device that runs the launch. Sizes of a file that are too large for it are scaled down.
enum class LaunchTarget : std::uint8_t { Emulator, Gpu };

/// Launches to try, best first: pinned, then captured from a program, then each launch site that
/// can be evaluated, else one guessed from parameter names and index expressions. Never empty for a
/// kernel whose parameters can be passed; Unsupported when one cannot (e.g. a texture, a class with
/// pointers inside), naming it. Captures that do not fit the kernel any more are named in the notes
/// of the first.
[[nodiscard]] Result<std::vector<LaunchSpec>>
inferLaunches(const analysis::FileModel& file, const analysis::KernelModel& kernel,
              LaunchTarget target = LaunchTarget::Emulator, const StoredCaptures& captures = {});

class LaunchSource; // engine/inputs/launch_source.h
/// The same with `source`, which is of `file`: for all kernels of a file.
[[nodiscard]] Result<std::vector<LaunchSpec>>
inferLaunches(const std::shared_ptr<const LaunchSource>& source, const analysis::FileModel& file,
              const analysis::KernelModel& kernel, LaunchTarget target,
              const StoredCaptures& captures);

/// Launches of `kernel` among `captures`, with the data that was passed.
struct CapturedLaunches {
    std::vector<LaunchSpec> launches;
    std::vector<std::string>
        refusals; ///< Reasons why others cannot be made again, one sentence each.
};
[[nodiscard]] CapturedLaunches capturedLaunches(const analysis::FileModel& file,
                                                const analysis::KernelModel& kernel,
                                                const StoredCaptures& captures);

/// A kernel in the file that it stands in.
struct KernelInFile {
    const analysis::FileModel& file;
    const analysis::KernelModel& kernel;
};

/// The captured launch for what it says of grid, block and numbers: an argument that cannot be
/// passed in another process, such as a class with pointers inside, is no obstacle and has its
/// bytes. Failed if the kernel takes something else by now.
[[nodiscard]] Result<LaunchSpec> capturedNumbers(KernelInFile kernel, const StoredLaunch& stored);

/// Whether `edited` takes what `original` takes, and behind it nothing but integers.
[[nodiscard]] bool takesArgumentsOf(const analysis::KernelModel& edited,
                                    const analysis::KernelModel& original);

/// The launch of `edited` on the data of `captured`, a launch of `original`. Where the edit changes
/// grid or block, or adds integers behind the arguments, they follow from its launch and the
/// captured values. Failed when they cannot be computed, or without takesArgumentsOf().
[[nodiscard]] Result<LaunchSpec> editedCapture(KernelInFile original, KernelInFile edited,
                                               const LaunchSpec& captured);

} // namespace kernelskill::engine
