/// Finds CUPTI in a toolkit.
#pragma once

#include "analysis/command/toolchain.h"

#include <filesystem>
#include <optional>

namespace kernelskill::engine::gpu {

/// Empty if there is no toolkit, or none in it: then the loader searches its own paths.
[[nodiscard]] std::filesystem::path
cuptiLibraryOf(const std::optional<analysis::CudaToolkit>& toolkit);

} // namespace kernelskill::engine::gpu
