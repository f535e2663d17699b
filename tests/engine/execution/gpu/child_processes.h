/// Runners as the system sees them, for tests that kill them.
#pragma once

#include <filesystem>
#include <fstream>
#include <sys/types.h>
#include <vector>

namespace kernelskill::testing {

/// The processes that this one started and that still run.
inline std::vector<pid_t> childProcesses() {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream list(entry.path() / "children");
        for (pid_t child = 0; list >> child;)
            found.push_back(child);
    }
    return found;
}

} // namespace kernelskill::testing
