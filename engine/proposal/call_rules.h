/// What a proposed kernel may not do, seen once it is parsed and before it is compiled.
#pragma once

#include "analysis/model/kernel_model.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// The functions that device code may call: all that the built-in CUDA headers declare, but those
/// that print.
class DeviceNames {
public:
    /// Reads the headers below `preludeInclude`, some milliseconds.
    explicit DeviceNames(const std::filesystem::path& preludeInclude);
    [[nodiscard]] bool contains(std::string_view name) const { return names_.contains(name); }

private:
    std::set<std::string, std::less<>> names_;
};

/// Why the kernel `proposed` of the file `after` may not stand for `original` of `before`, one
/// sentence; nullopt: nothing speaks against it. The rules:
/// - the file has the same kernels, device functions and parameters as before;
/// - it calls what CUDA declares, device functions of the file, and what the original calls;
/// - its arrays fit: a GPU's local memory (512 KiB a thread) and shared memory (227 KiB a block).
[[nodiscard]] std::optional<std::string> refusalOf(const analysis::FileModel& before,
                                                   const analysis::KernelModel& original,
                                                   const analysis::FileModel& after,
                                                   const analysis::KernelModel& proposed,
                                                   const DeviceNames& names);

} // namespace kernelskill::engine
