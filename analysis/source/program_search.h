/// Finds programs by name, as a shell does.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kernelskill::analysis {

/// The absolute path of an executable program: `name` itself if it is a path, else the first match
/// in the folders of $PATH.
[[nodiscard]] std::optional<std::filesystem::path> findProgram(const std::string& name);

} // namespace kernelskill::analysis
