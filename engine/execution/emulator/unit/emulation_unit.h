/// The texts to compile for one kernel: the user's files, sliced and rewritten, and an entry that
/// calls the kernel.
#pragma once

#include "engine/execution/job.h"
#include "engine/execution/kernel_ref.h"
#include "engine/unit/include_rules.h"
#include "engine/unit/slice.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// How much of the user's files the unit contains. Smaller units are tried first.
struct UnitBreadth {
    SliceWidth width = SliceWidth::Needed;
    IncludeBreadth includes = IncludeBreadth::DeviceHeaders;
    std::set<std::string> forced; ///< Names that the compiler missed.
    bool globalsTable = true;     ///< List `__device__` and `__constant__` variables in ks_image.
    bool fieldTables = true;      ///< Describe the fields of the user's classes.
    /// Spell out the kernel's type, because the C library also has functions named norm, log or
    /// index.
    bool kernelType = false;
};

struct UnitFile {
    std::filesystem::path
        path; ///< The user's path; the copy is at the same path below a mirror folder.
    std::string text;
};

struct EmulationUnit {
    std::vector<UnitFile> files;
    std::string prefix; ///< A header to include before the user's files.
    std::string entry; ///< The translation unit. Includes `mirrorMarker` + path of the user's file.
};

/// Marks the mirror folder in EmulationUnit::entry.
inline constexpr std::string_view mirrorMarker = "@mirror@";

[[nodiscard]] EmulationUnit makeEmulationUnit(const ScannedProgram& program, KernelRef kernel,
                                              const LaunchSpec& launch,
                                              const std::filesystem::path& preludeInclude,
                                              const UnitBreadth& breadth);

} // namespace kernelskill::engine
