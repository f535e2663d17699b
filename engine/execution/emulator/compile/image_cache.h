/// A disk cache of compiled images, of their runs' results and of precompiled preludes, by a hash
/// of all inputs. Processes share it: a file is complete or absent. A file in use may be removed by
/// another process; it stays usable while it is open.
#pragma once

#include "analysis/source/error.h"
#include "engine/storage/temporary_folder.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

class ImageCache {
public:
    /// If `folder` is empty, it is $XDG_CACHE_HOME/kernelskill/images, else
    /// ~/.cache/kernelskill/images, else a folder below the temporary one.
    explicit ImageCache(std::filesystem::path folder, std::uint64_t maxBytes);

    [[nodiscard]] std::filesystem::path imagePath(const std::string& key) const {
        return folder_ / (key + ".so");
    }
    /// Whether the image exists. Marks it as used.
    [[nodiscard]] bool holdsImage(const std::string& key) const;
    /// The compiler's messages if it refused exactly these texts within the last ten minutes.
    [[nodiscard]] std::optional<std::string> failure(const std::string& key) const;

    [[nodiscard]] Result<void> storeImage(const std::string& key,
                                          const std::filesystem::path& image) const;
    void storeFailure(const std::string& key, const std::string& messages) const;

    /// Makes `destination`, in a work folder, another name of the precompiled prelude, so that it
    /// stays there if the cache drops it. Returns whether there was one. Marks it as used.
    bool linkPrelude(const std::string& key, const std::filesystem::path& destination) const;
    void storePrelude(const std::string& key, const std::filesystem::path& precompiled) const;

    /// The cached result of a run, stored beside the images.
    [[nodiscard]] std::optional<std::string> report(const std::string& key) const;
    void storeReport(const std::string& key, std::string_view report) const;

    /// Creates a private folder beside the images, so that renames are atomic.
    [[nodiscard]] Result<TemporaryFolder> makeWorkFolder() const;

private:
    void evict() const;
    [[nodiscard]] std::filesystem::path preludePath(const std::string& key) const {
        return folder_ / (key + ".gch");
    }

    std::filesystem::path folder_;
    std::uint64_t maxBytes_;
};

} // namespace kernelskill::engine
