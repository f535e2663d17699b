/// Rules for a proposed kernel that are checked after parsing and before compiling.
#pragma once

#include "analysis/model/kernel_model.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// The functions that device code may call: all functions that the built-in CUDA headers declare,
/// except those that print.
class DeviceNames {
public:
    /// Reads the headers below `preludeInclude`, which takes some milliseconds.
    explicit DeviceNames(const std::filesystem::path& preludeInclude);
    [[nodiscard]] bool contains(std::string_view name) const { return names_.contains(name); }

private:
    std::set<std::string, std::less<>> names_;
};

/// Why the kernel `proposed` in the file `after` may not replace `original` in `before`, in one
/// sentence; nullopt if it may. The rules:
/// - the file has the same kernels, device functions and parameters as before;
/// - it calls what CUDA declares, device functions of the file, and what the original calls;
/// - its arrays fit: a GPU's local memory (512 KiB a thread) and shared memory (227 KiB a block).
[[nodiscard]] std::optional<std::string> refusalOf(const analysis::FileModel& before,
                                                   const analysis::KernelModel& original,
                                                   const analysis::FileModel& after,
                                                   const analysis::KernelModel& proposed,
                                                   const DeviceNames& names);

} // namespace kernelskill::engine
