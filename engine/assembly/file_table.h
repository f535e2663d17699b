/// A list of distinct file names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Fills Listing::files.
class FileTable {
public:
    explicit FileTable(std::vector<std::string>& files) : files_(files) {}
    [[nodiscard]] std::uint32_t indexOf(const std::string& file) {
        const auto [entry, isNew] =
            indices_.try_emplace(file, static_cast<std::uint32_t>(files_.size()));
        if (isNew)
            files_.push_back(file);
        return entry->second;
    }

private:
    std::vector<std::string>& files_;
    std::map<std::string, std::uint32_t> indices_;
};

} // namespace kernelskill::engine
