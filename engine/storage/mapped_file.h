/// A file mapped for reading.
#pragma once

#include "analysis/source/error.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kernelskill::engine {

/// Whether a path may name a link to the file.
enum class Links : std::uint8_t { Refused, Followed };

/// Pages are loaded on access and shared between processes. Whoever cuts the file off while it is
/// mapped ends the processes that read behind its new end.
class MappedFile {
public:
    /// Failed, with its path, if it cannot be read or is no regular file.
    [[nodiscard]] static Result<MappedFile> open(const std::string& path, Links links);

    MappedFile() = default;
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

private:
    std::span<const std::byte> bytes_;
};

} // namespace kernelskill::engine
