/// The compiler's replies on disk, by the hash of all that they follow from. Shared by processes: a
/// reply appears complete or not at all. What cannot be written is compiled again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kernelskill::engine {

class ReplyCache {
public:
    /// `folder` empty: $XDG_CACHE_HOME/kernelskill/facts, else ~/.cache/kernelskill/facts, else
    /// below the temporary folder.
    explicit ReplyCache(std::filesystem::path folder);

    [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
    void store(const std::string& key, const std::string& reply) const;

private:
    void evict() const;

    std::filesystem::path folder_;
};

} // namespace kernelskill::engine
