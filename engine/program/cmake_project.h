/// Reads a project's executables and tests from the text of its CMakeLists.txt files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct CmakeExecutable {
    std::string name;
    std::filesystem::path file; ///< The file that holds the command.
    std::uint32_t line = 1;
    bool hasCudaSource = false;
    /// Below the build folder; nullopt if the text does not tell.
    std::optional<std::filesystem::path> path;
};

struct CmakeTest {
    std::string name;
    std::vector<std::string> command;            ///< The first word may be an executable's name.
    std::optional<std::filesystem::path> folder; ///< WORKING_DIRECTORY.
    std::filesystem::path file;
    std::uint32_t line = 1;
};

struct CmakeProject {
    std::vector<CmakeExecutable> executables;
    std::vector<CmakeTest> tests;
    std::vector<std::string> notes;

    [[nodiscard]] const CmakeExecutable* find(const std::string& name) const;
};

/// Reads the folder's CMakeLists.txt and those of add_subdirectory(). Conditions are not decided:
/// both sides count. Bodies of functions and macros are passed over. A name that is computed, or a
/// test that needs a generator expression other than $<TARGET_FILE:...>, is left out with a note.
[[nodiscard]] CmakeProject readCmakeProject(const std::filesystem::path& folder);

} // namespace kernelskill::engine
