/// Finds positions of which an edit keeps fewer bits than the original: `(unsigned short)i`,
/// `short c` for `int c`. Runs seldom reach the sizes at which they wrap around.
#pragma once

#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// A value of the candidate that may not fit where it is kept.
struct NarrowedValue {
    std::string text;       ///< As written.
    std::uint32_t line = 0; ///< One-based, in the candidate's file.
    unsigned bits = 0;      ///< So many are kept.
};

/// Values of the kernel, and of the functions it calls, that are kept in fewer bits than they may
/// need, although the original keeps no value in so few. Only positions count: values that follow
/// from indices, arguments and constants, and whatever indexes an array. A float that becomes an
/// integer again keeps 24 bits of the positions that it is computed from. Types, guards and loop
/// bounds in the text show that a value fits; the program's own sizes do not.
[[nodiscard]] std::vector<NarrowedValue> narrowedValues(const analysis::FileModel& original,
                                                        const analysis::KernelModel& originalKernel,
                                                        const analysis::FileModel& candidate,
                                                        const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
