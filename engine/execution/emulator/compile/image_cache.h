/// Compiled images on disk, and what runs of them showed, by the hash of all that made them. Shared
/// by processes: a file appears complete or not at all, and one that is in use may be removed by
/// another process only as a name.
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
    /// `folder` empty: $XDG_CACHE_HOME/kernelskill/images, else ~/.cache/kernelskill/images, else
    /// below the temporary folder.
    explicit ImageCache(std::filesystem::path folder, std::uint64_t maxBytes);

    [[nodiscard]] std::filesystem::path imagePath(const std::string& key) const {
        return folder_ / (key + ".so");
    }
    /// Whether the image is there; marks it as used.
    [[nodiscard]] bool holdsImage(const std::string& key) const;
    /// What the compiler said when it refused these very texts in the last ten minutes.
    [[nodiscard]] std::optional<std::string> failure(const std::string& key) const;

    [[nodiscard]] Result<void> storeImage(const std::string& key,
                                          const std::filesystem::path& image) const;
    void storeFailure(const std::string& key, const std::string& messages) const;

    /// What a run of an image showed, beside the images.
    [[nodiscard]] std::optional<std::string> report(const std::string& key) const;
    void storeReport(const std::string& key, std::string_view report) const;

    /// A fresh private folder beside the images, so that renames are atomic.
    [[nodiscard]] Result<TemporaryFolder> makeWorkFolder() const;

private:
    void evict() const;

    std::filesystem::path folder_;
    std::uint64_t maxBytes_;
};

} // namespace kernelskill::engine
