/// A cache on disk for the compiler's replies, by the hash of their inputs. Processes share it: a
/// reply is complete or absent. If it cannot be written, the unit is compiled again next time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kernelskill::engine {

class ReplyCache {
public:
    /// If `folder` is empty, it is $XDG_CACHE_HOME/kernelskill/facts, else
    /// ~/.cache/kernelskill/facts, else a folder below the temporary one.
    explicit ReplyCache(std::filesystem::path folder);

    /// Whether find() cannot find anything: making a key takes time.
    [[nodiscard]] bool isEmpty() const;
    [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
    void store(const std::string& key, const std::string& reply) const;

private:
    void evict() const;

    std::filesystem::path folder_;
};

} // namespace kernelskill::engine
