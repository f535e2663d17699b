/// Walls around a child process that works on untrusted text: which files it may use, no network,
/// and limits. They are put up between fork and exec and hold for all that it starts.
#pragma once

#include "engine/process/file_descriptor.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <linux/filter.h>
#include <sys/resource.h>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// What the child may do. Everything else is refused as far as this system's kernel can.
struct Walls {
    /// Files, and folders with all in them, that may be read and executed.
    std::vector<std::filesystem::path> readable;
    /// Folders that may be read and written to, but not executed from.
    std::vector<std::filesystem::path> writable;
    std::uint64_t memoryBytes = 0;   ///< Address space of each process; 0: no limit.
    std::uint64_t fileBytes = 0;     ///< Size of each file that is written; 0: no limit.
    std::chrono::seconds cpuTime{0}; ///< Of each process; 0: no limit.
};

/// The folders that every compiler needs: system libraries and headers, and what the loader reads.
[[nodiscard]] std::vector<std::filesystem::path> systemFolders();

/// The folders of the installation that holds `program`: the folder above its bin/, with links
/// resolved, and without one the file alone. A home folder is never given whole.
[[nodiscard]] std::vector<std::filesystem::path>
installationOf(const std::filesystem::path& program);

/// `folders` without those that hold a user's secrets: the home folder and those above it, and
/// hidden folders in it other than those that software is installed to.
[[nodiscard]] std::vector<std::filesystem::path>
withoutPrivate(std::vector<std::filesystem::path> folders);

/// What this system's kernel offers. Where something is missing, the rest is used.
struct WallsOnOffer {
    int landlock = 0;     ///< Version of Landlock's interface, for files; 0: none.
    bool seccomp = false; ///< Filters of system calls, against network and tracing.
};
[[nodiscard]] WallsOnOffer wallsOnOffer();

/// Walls that are ready to be put up: made before the fork, since only system calls are safe after.
class PreparedWalls {
public:
    explicit PreparedWalls(const Walls& walls);
    /// Restricts the calling process for ever. Async-signal-safe. False if a limit or an offered
    /// wall cannot be put up: then the process must not go on.
    [[nodiscard]] bool putUp() const;

private:
    FileDescriptor ruleset_;
    std::vector<sock_filter> filter_;
    std::vector<std::pair<int, rlimit>> limits_;
};

} // namespace kernelskill::engine
