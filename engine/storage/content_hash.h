/// A key for disk caches: a hash of everything that the cached file depends on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace kernelskill::engine {

class ContentHash {
public:
    void add(std::string_view text); ///< Adds the length and the contents.
    void addFile(const std::filesystem::path& path);
    [[nodiscard]] std::string hex() const;

private:
    std::uint64_t first_ = 0xcbf29ce484222325u;
    std::uint64_t second_ = 0x9e3779b97f4a7c15u;
};

} // namespace kernelskill::engine
