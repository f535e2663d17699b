/// The exported programs of a folder.
#pragma once

#include <filesystem>
#include <set>

namespace kernelskill::engine::graph::testing {

/// The archives of a folder, sorted by their names.
inline std::set<std::filesystem::path> archivesIn(const std::filesystem::path& folder) {
    std::set<std::filesystem::path> archives;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".pt2")
            archives.insert(entry.path());
    return archives;
}

} // namespace kernelskill::engine::graph::testing
