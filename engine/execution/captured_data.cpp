#include "engine/execution/captured_data.h"

#include "engine/execution/buffer_fill.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine {
namespace {

std::unexpected<Error> unreadable(const std::string& path, const char* why) {
    return std::unexpected(Error{ErrorKind::Failed,
                                 std::string("captured data cannot be read: ") + why, path,
                                 "capture the program again"});
}

} // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
    // A workspace's folder of captures could hold a link to any file of the user.
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return unreadable(path, std::strerror(errno));
    struct stat status{};
    MappedFile mapped;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(file);
        return unreadable(path, "it is no file");
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size > 0) {
        void* const address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (address == MAP_FAILED) {
            const int failure = errno;
            close(file);
            return unreadable(path, std::strerror(failure));
        }
        mapped.bytes_ = {static_cast<const std::byte*>(address), size};
    }
    close(file);
    return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
}

MappedFile::~MappedFile() {
    if (!bytes_.empty())
        munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Result<CapturedContents> openCaptured(const LaunchSpec& launch) {
    CapturedContents contents;
    for (std::size_t position = 0; position < launch.arguments.size(); ++position) {
        const auto* buffer = std::get_if<BufferSpec>(&launch.arguments[position]);
        if (buffer == nullptr || buffer->fill != Fill::Captured || !buffer->isInput ||
            !buffer->captured)
            continue;
        auto file = MappedFile::open(buffer->captured->before);
        if (!file)
            return std::unexpected(std::move(file.error()));
        contents.emplace(position, std::move(*file));
    }
    return contents;
}

void fillFromCaptured(const BufferSpec& buffer, std::span<const std::byte> data,
                      std::uint64_t offset, std::span<std::byte> bytes) {
    const bool widens = buffer.element == analysis::ScalarKind::Double && buffer.captured &&
                        buffer.captured->element == analysis::ScalarKind::Float;
    const std::uint64_t size = widens ? data.size() / sizeof(float) * sizeof(double) : data.size();
    const auto given = static_cast<std::size_t>(
        std::clamp<std::uint64_t>(size, offset, offset + bytes.size()) - offset);
    if (!widens) {
        if (given > 0)
            std::memcpy(bytes.data(), data.data() + offset, given);
    } else {
        for (std::size_t at = 0; at < given; at += sizeof(double)) {
            float narrow = 0;
            std::memcpy(&narrow, data.data() + (offset + at) / 2, sizeof narrow);
            const double wide = narrow;
            std::memcpy(bytes.data() + at, &wide, std::min(sizeof wide, given - at));
        }
    }
    for (std::size_t at = given; at < bytes.size(); ++at)
        bytes[at] = static_cast<std::byte>(poisonWord >> (8 * ((offset + at) % sizeof poisonWord)));
}

} // namespace kernelskill::engine
