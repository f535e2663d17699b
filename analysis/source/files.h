/// Reads whole files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kernelskill::analysis {

/// Every byte of the file; nullopt if it cannot be read.
[[nodiscard]] std::optional<std::string> readFile(const std::filesystem::path& path);

/// Whether `path` exists and can be reached.
[[nodiscard]] bool pathExists(const std::filesystem::path& path);

/// Whether `path` is a regular file that can be reached.
[[nodiscard]] bool isFile(const std::filesystem::path& path);

} // namespace kernelskill::analysis
