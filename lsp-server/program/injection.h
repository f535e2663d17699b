/// Our libraries that the CUDA driver loads into the user's program.
#pragma once

#include "analysis/source/error.h"
#include "lsp-server/configuration/options.h"

#include <filesystem>
#include <string>

namespace kernelskill::lsp {

/// Names the library to the driver.
inline constexpr const char* injectionVariable = "CUDA_INJECTION64_PATH";

/// The library, which stands beside this program. Missing where it was not built; InvalidInput when
/// another tool's is to be loaded already.
[[nodiscard]] Result<std::filesystem::path> injectedLibrary(const char* name);

/// The CUPTI that it should load; empty: the loader searches.
[[nodiscard]] std::string cuptiFor(const Options& options);

} // namespace kernelskill::lsp
