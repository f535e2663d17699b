/// Finds launches that host code repeats.
#pragma once

#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct RepeatedLaunch {
    std::string file;
    analysis::Span span; ///< The launch.
    /// The iterations of all loops around it, multiplied; nullopt if the text does not tell.
    std::optional<std::int64_t> launches;
};

/// The launches of `kernel` inside loops of `file`'s host functions.
[[nodiscard]] std::vector<RepeatedLaunch> repeatedLaunches(const analysis::FileModel& file,
                                                           const analysis::KernelModel& kernel);

/// Whether a launch of `kernel` gets blocks whose size a loop around it changes: a program that
/// tries sizes, of which none is the user's choice.
[[nodiscard]] bool triesBlocks(const analysis::FileModel& file,
                               const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
