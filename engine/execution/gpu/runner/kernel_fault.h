/// Explains the driver's results for a kernel that failed.
#pragma once

#include <cuda.h>

namespace kernelskill::engine::gpu {

/// Whether the context is destroyed after `status`, so that every later call fails.
[[nodiscard]] bool isSticky(CUresult status);

/// The kernel's mistake in the user's terms.
[[nodiscard]] const char* explanationOf(CUresult status);

} // namespace kernelskill::engine::gpu
