/// Reads whole files, and compares paths.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace kernelskill::analysis {

/// More than any source, and what a reader of text holds in memory without harm.
inline constexpr std::uintmax_t maxFileBytes = 64u << 20;

/// Every byte of the file; nullopt if it cannot be read, is larger than `maxBytes`, or is no
/// regular file on a disk: a device or a pipe may have no end, and files of /proc and /sys are made
/// while they are read.
[[nodiscard]] std::optional<std::string> readFile(const std::filesystem::path& path,
                                                  std::uintmax_t maxBytes = maxFileBytes);

/// Why readFile() reads nothing from `path`; empty if it does.
[[nodiscard]] std::string unreadableReason(const std::filesystem::path& path,
                                           std::uintmax_t maxBytes = maxFileBytes);

/// Whether `path` exists and can be reached.
[[nodiscard]] bool pathExists(const std::filesystem::path& path);

/// Whether `path` is a regular file that can be reached.
[[nodiscard]] bool isFile(const std::filesystem::path& path);

/// The path with links followed, as far as it exists; without `.` and `..`.
[[nodiscard]] std::filesystem::path canonicalPath(const std::filesystem::path& path);

/// Whether `path` is `folder` or lies in it, by their names alone. Both are absolute and normal.
[[nodiscard]] bool isBelow(const std::filesystem::path& path, const std::filesystem::path& folder);

} // namespace kernelskill::analysis
