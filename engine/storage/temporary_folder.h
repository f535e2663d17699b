/// A folder that is removed with its owner.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace kernelskill::engine {

class TemporaryFolder {
public:
    /// Creates a folder in `parent`, which must exist, with a name that begins with `prefix`.
    /// nullopt if it cannot be created.
    [[nodiscard]] static std::optional<TemporaryFolder> make(const std::filesystem::path& parent,
                                                             std::string_view prefix);
    TemporaryFolder(TemporaryFolder&& other) noexcept;
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_; ///< Empty if moved away.
};

} // namespace kernelskill::engine
