#include "analysis/source/program_search.h"

#include "analysis/source/files.h"

#include <cstdlib>
#include <sstream>
#include <unistd.h>

namespace kernelskill::analysis {
namespace {

bool isExecutable(const std::filesystem::path& path) {
    return isFile(path) && ::access(path.c_str(), X_OK) == 0;
}

} // namespace

std::optional<std::filesystem::path> findProgram(const std::string& name) {
    if (name.find('/') != std::string::npos)
        return isExecutable(name) ? std::optional(std::filesystem::absolute(name)) : std::nullopt;
    const char* variable = std::getenv("PATH");
    std::istringstream folders(variable == nullptr ? "/usr/bin:/bin" : variable);
    for (std::string folder; std::getline(folders, folder, ':');) {
        auto candidate = std::filesystem::path(folder) / name;
        // A folder relative to the current one, as a workspace often is, may hold anything.
        if (folder.starts_with('/') && isExecutable(candidate))
            return candidate;
    }
    return std::nullopt;
}

} // namespace kernelskill::analysis
