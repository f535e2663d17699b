/// Finds the files of a toolkit that the runner and reviews use.
#pragma once

#include "analysis/command/toolchain.h"

#include <filesystem>
#include <optional>

namespace kernelskill::engine::gpu {

/// The path of CUPTI. Empty if there is no toolkit, or no CUPTI in it: then the loader searches its
/// own paths.
[[nodiscard]] std::filesystem::path
cuptiLibraryOf(const std::optional<analysis::CudaToolkit>& toolkit);

/// The path of compute-sanitizer in the toolkit or on PATH; only its name if it is in neither.
[[nodiscard]] std::filesystem::path
computeSanitizerOf(const std::optional<analysis::CudaToolkit>& toolkit);

} // namespace kernelskill::engine::gpu
