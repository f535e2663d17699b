/// Launches and error checks as host code has them.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/source/source_text.h"

#include <cstdint>

namespace kernelskill::analysis {

/// The kernel that has this launch among its own; it lives in `file`. Null: another file's launch.
[[nodiscard]] const KernelModel* kernelOf(const FileModel& file, const LaunchSite& launch);

/// The launch that an expression of the host function is, written with `<<<` in the file itself;
/// null where it is none.
[[nodiscard]] const LaunchSite* launchAt(const FileModel& file, std::uint32_t host, ExprId expr);

/// `CHECK(cudaGetLastError());` and its like: nothing that orders work.
[[nodiscard]] bool isErrorCheck(const SourceText& source, const Stmt& stmt);

/// Whether the host only waits for work of the GPU, with or without a check that it went well:
/// `cudaDeviceSynchronize();` or `CHECK(cudaStreamSynchronize(stream));`.
[[nodiscard]] bool isWait(const SourceText& source, const Stmt& stmt);

} // namespace kernelskill::analysis
