/// Where a toolkit keeps CUPTI.
#pragma once

#include "analysis/command/toolchain.h"

#include <filesystem>
#include <optional>

namespace kernelskill::engine::gpu {

/// Empty when there is no toolkit or none in it: the loader then searches its own places.
[[nodiscard]] std::filesystem::path
cuptiLibraryOf(const std::optional<analysis::CudaToolkit>& toolkit);

} // namespace kernelskill::engine::gpu
