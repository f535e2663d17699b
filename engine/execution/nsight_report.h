/// Reads reports of Nsight Compute (.ncu-rep), by its own command line.
#pragma once

#include "analysis/source/error.h"
#include "engine/execution/profile.h"

#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// A launch that Nsight Compute has profiled.
struct ImportedKernel {
    std::string name; ///< As Nsight Compute writes it: "transpose(float *, const float *, int)".
    Dim3 grid;
    Dim3 block;
    std::string capability; ///< Of the GPU: "9.0"; empty if the report does not say.
    Metrics metrics;        ///< In bytes, nanoseconds, percent and plain counts.
};

/// The kernels of the report, in the order of their launches. Missing without `ncu` on PATH; Failed
/// with its message if it cannot read the report. Takes seconds for a large report.
[[nodiscard]] Result<std::vector<ImportedKernel>>
importNsightReport(const std::filesystem::path& report, std::stop_token stop);

/// Reads the table that `ncu --page raw --csv` prints. The second row holds the units. Metrics that
/// are not numbers are left out. InvalidInput, with `where` as its place, if there is no such
/// table.
[[nodiscard]] Result<std::vector<ImportedKernel>> readNsightTable(std::string_view text,
                                                                  const std::string& where);

} // namespace kernelskill::engine
