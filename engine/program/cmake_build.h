/// Build folders of a CMake project, and what CMake's File API has written into them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct BuiltExecutable {
    std::string name;
    std::filesystem::path path; ///< Absolute.
    bool hasCudaSource = false;
};

/// Folders in the project's, and one below, whose CMakeCache.txt names the project; newest first.
[[nodiscard]] std::vector<std::filesystem::path>
cmakeBuildFolders(const std::filesystem::path& project);

/// The executables of the newest reply of the File API in a build folder; none if there is no
/// reply, or it cannot be understood.
[[nodiscard]] std::vector<BuiltExecutable>
builtExecutables(const std::filesystem::path& buildFolder);

} // namespace kernelskill::engine
