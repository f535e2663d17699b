/// Finds what the analysis needs on this machine: the prelude, clang's built-in headers, the CUDA
/// toolkit.
#pragma once

#include "analysis/source/error.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace kernelskill::analysis {

class ParsedUnits;

struct CudaToolkit {
    std::filesystem::path root; ///< Contains include/cuda_runtime.h (or targets/<t>/include).
    int version = 0;            ///< In the form of CUDART_VERSION, e.g. 13000; 0 if unknown.
    bool operator==(const CudaToolkit&) const = default;
};

struct Toolchain {
    std::filesystem::path preludeInclude;   ///< Directory of the built-in CUDA headers.
    std::filesystem::path clangResourceDir; ///< Contains include/stddef.h.
    std::optional<CudaToolkit> toolkit;
    /// Use the toolkit's headers even if the prelude would suffice: for tests and comparisons.
    bool preferToolkit = false;
    /// analyzeFile() parses with these units (parsed_units.h), which all copies share. If null, it
    /// reads all headers again for each text.
    std::shared_ptr<ParsedUnits> units;
    bool operator==(const Toolchain&) const = default;
};

struct ToolchainOptions {
    std::optional<std::filesystem::path> cudaPath; ///< The user's setting; it precedes the search.
    /// Parse with the prelude even if there is a toolkit. Also set by $KERNELSKILL_IGNORE_TOOLKIT.
    bool ignoreToolkit = false;
    /// See Toolchain::preferToolkit. Also set by $KERNELSKILL_PREFER_TOOLKIT.
    bool preferToolkit = false;
};

/// Searches the toolkit in the option, $CUDA_HOME, $CUDA_PATH, nvcc on PATH, /usr/local/cuda, and
/// the newest /usr/local/cuda-*. Data files are in ../share/kernelskill, relative to the
/// executable. Missing if there are no data files.
[[nodiscard]] Result<Toolchain> findToolchain(const ToolchainOptions& options);

/// The folder of the installed data files ("share/kernelskill"), relative to the executable or from
/// $KERNELSKILL_DATA_DIR.
[[nodiscard]] Result<std::filesystem::path> findDataDirectory();

} // namespace kernelskill::analysis
