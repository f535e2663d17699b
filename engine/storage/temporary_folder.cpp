#include "engine/storage/temporary_folder.h"

#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace kernelskill::engine {

std::optional<TemporaryFolder> TemporaryFolder::make(const std::filesystem::path& parent,
                                                     std::string_view prefix) {
    // mkdtemp() replaces the X letters.
    auto name = (parent / (std::string(prefix) + "-XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr)
        return std::nullopt;
    return TemporaryFolder(name);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty())
        std::filesystem::remove_all(path_, ignored);
}

} // namespace kernelskill::engine
