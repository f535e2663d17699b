/// The compiled forms of a kernel that a review runs beside each other.
#pragma once

#include "engine/execution/executor.h"
#include "engine/inputs/trial.h"
#include "skills/base/skill.h"

#include <memory>
#include <stop_token>
#include <string>

namespace kernelskill::engine {

using ImagePointer = std::shared_ptr<const Image>;

struct KernelInProgram {
    const ProgramSource& program;
    const analysis::KernelModel& kernel;
};

/// The images of one instance of the kernel. Each of the first two is one or the reason.
struct ReviewImages {
    Result<ImagePointer> original;
    Result<ImagePointer> candidate;
    ImagePointer reference;    ///< In float64; null when there is none.
    std::string referenceNote; ///< Why there is none.
};

/// Original and candidate for the launches of `trial`, and unless every bit must agree the original
/// in float64, all compiled at once.
[[nodiscard]] ReviewImages buildImages(Executor& executor, const analysis::Toolchain& toolchain,
                                       KernelInProgram original, KernelInProgram candidate,
                                       const Trial& trial, skills::Numerics numerics,
                                       const std::stop_token& stop);

/// The same for an instance with other template arguments than the first; it gets no reference.
[[nodiscard]] ReviewImages buildOtherInstance(Executor& executor, KernelInProgram original,
                                              KernelInProgram candidate, const Trial& trial,
                                              const std::stop_token& stop);

} // namespace kernelskill::engine
