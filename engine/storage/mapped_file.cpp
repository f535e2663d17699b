#include "engine/storage/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine {
namespace {

std::unexpected<Error> unreadable(const std::string& path, const char* why) {
    return std::unexpected(Error{ErrorKind::Failed, why, path, {}});
}

} // namespace

Result<MappedFile> MappedFile::open(const std::string& path, Links links) {
    const int refusal = links == Links::Refused ? O_NOFOLLOW : 0;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | refusal);
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

} // namespace kernelskill::engine
