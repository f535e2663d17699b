/// A folder that goes away with its owner.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace kernelskill::engine {

class TemporaryFolder {
public:
    /// A new folder in `parent`, which has to exist, its name beginning with `prefix`. nullopt when
    /// it cannot be made.
    [[nodiscard]] static std::optional<TemporaryFolder> make(const std::filesystem::path& parent,
                                                             std::string_view prefix);
    TemporaryFolder(TemporaryFolder&& other) noexcept;
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_; ///< Empty when it was moved away.
};

} // namespace kernelskill::engine
