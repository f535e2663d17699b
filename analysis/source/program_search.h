/// Programs by name, as a shell finds them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kernelskill::analysis {

/// The absolute path of a program that may be run: `name` itself where it is a path, else the first
/// in the folders of $PATH.
[[nodiscard]] std::optional<std::filesystem::path> findProgram(const std::string& name);

} // namespace kernelskill::analysis
