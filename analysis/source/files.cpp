#include "analysis/source/files.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <system_error>
#include <unistd.h>

namespace kernelskill::analysis {

namespace {

/// Closes the file at the end of its scope.
class OpenFile {
public:
    /// Does not wait for the writer of a pipe.
    explicit OpenFile(const std::filesystem::path& path)
        : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() {
        if (descriptor_ >= 0)
            ::close(descriptor_);
    }
    [[nodiscard]] int get() const { return descriptor_; }

private:
    int descriptor_;
};

/// Empty for a regular file on a disk of at most `maxBytes`.
std::string reasonAgainst(int file, std::uintmax_t maxBytes) {
    struct stat status{};
    struct statfs system{};
    if (file < 0)
        return errno == ENOENT || errno == ENOTDIR ? "no such file"
                                                   : std::string(std::strerror(errno));
    if (::fstat(file, &status) != 0 || ::fstatfs(file, &system) != 0)
        return std::strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "not a regular file";
    if (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC)
        return "a file of the system, not of a disk";
    if (static_cast<std::uintmax_t>(status.st_size) > maxBytes)
        return "larger than " + std::to_string(maxBytes >> 20) + " MiB";
    return {};
}

} // namespace

std::optional<std::string> readFile(const std::filesystem::path& path, std::uintmax_t maxBytes) {
    const OpenFile file(path);
    if (!reasonAgainst(file.get(), maxBytes).empty())
        return std::nullopt;
    std::string text;
    std::array<char, 1 << 16> part{};
    while (true) {
        const ssize_t count = ::read(file.get(), part.data(), part.size());
        if (count == 0)
            return text;
        if (count < 0 && errno != EINTR)
            return std::nullopt;
        if (count > 0)
            text.append(part.data(), static_cast<std::size_t>(count));
        if (text.size() > maxBytes) // It grew meanwhile.
            return std::nullopt;
    }
}

std::string unreadableReason(const std::filesystem::path& path, std::uintmax_t maxBytes) {
    return reasonAgainst(OpenFile(path).get(), maxBytes);
}

bool pathExists(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
}

bool isFile(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

std::filesystem::path canonicalPath(const std::filesystem::path& path) {
    std::error_code error;
    auto canonical = std::filesystem::weakly_canonical(path, error);
    return error ? path.lexically_normal() : canonical;
}

bool isBelow(const std::filesystem::path& path, const std::filesystem::path& folder) {
    const auto relative = path.lexically_relative(folder);
    return !relative.empty() && *relative.begin() != "..";
}

} // namespace kernelskill::analysis
