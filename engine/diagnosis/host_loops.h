/// Launches that host code repeats.
#pragma once

#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct RepeatedLaunch {
    std::string file;
    analysis::Span span; ///< Of the launch.
    std::optional<std::int64_t>
        launches; ///< By all loops around it; nullopt: not told by the text.
};

/// The launches of `kernel` that stand in a loop of `file`'s host functions.
[[nodiscard]] std::vector<RepeatedLaunch> repeatedLaunches(const analysis::FileModel& file,
                                                           const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
