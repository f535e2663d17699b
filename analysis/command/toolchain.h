/// What the analysis finds on this machine: prelude, clang's built-in headers, CUDA toolkit.
#pragma once

#include "analysis/source/error.h"

#include <filesystem>
#include <optional>
#include <string>

namespace kernelskill::analysis {

struct CudaToolkit {
    std::filesystem::path root; ///< Holds include/cuda_runtime.h (or targets/<t>/include).
    int version = 0; ///< As CUDART_VERSION spells it, e.g. 13000; 0 when it cannot be told.
};

struct Toolchain {
    std::filesystem::path preludeInclude;   ///< Directory of the built-in CUDA headers.
    std::filesystem::path clangResourceDir; ///< Holds include/stddef.h.
    std::optional<CudaToolkit> toolkit;
    /// Its headers are used even where the prelude would do: for tests and comparisons.
    bool preferToolkit = false;
};

struct ToolchainOptions {
    std::optional<std::filesystem::path> cudaPath; ///< The user's setting; it wins over the search.
    bool ignoreToolkit = false; ///< Parse with the prelude even if a toolkit is there. Set as well
                                ///< by $KERNELSKILL_IGNORE_TOOLKIT.
    bool preferToolkit = false; ///< Toolchain::preferToolkit; as well $KERNELSKILL_PREFER_TOOLKIT.
};

/// Finds the toolkit in: the option, $CUDA_HOME, $CUDA_PATH, nvcc on PATH, /usr/local/cuda, the
/// newest /usr/local/cuda-*; data files beside the executable (../share/kernelskill). Missing when
/// the data files are gone.
[[nodiscard]] Result<Toolchain> findToolchain(const ToolchainOptions& options);

/// Directory of the installed data files ("share/kernelskill"), from the executable's place or
/// $KERNELSKILL_DATA_DIR.
[[nodiscard]] Result<std::filesystem::path> findDataDirectory();

} // namespace kernelskill::analysis
