/// Provides the headers of C and C++ if the system has none.
#pragma once

#include <filesystem>
#include <optional>

namespace kernelskill::analysis {

/// The folder that replaces the root of the file system when clang looks for <cstdlib> and the
/// like: `data`/sysroot, which a package contains. nullopt if that is missing, or if `systemRoot`
/// has such headers: the user's compiler comes with those, and they are always preferable.
[[nodiscard]] std::optional<std::filesystem::path>
substituteSystemRoot(const std::filesystem::path& data,
                     const std::filesystem::path& systemRoot = "/");

} // namespace kernelskill::analysis
