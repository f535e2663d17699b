/// Reads the files that contain captured buffers.
#pragma once

#include "analysis/source/error.h"
#include "engine/execution/job.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace kernelskill::engine {

/// A file mapped for reading. Pages are loaded on access and shared between processes.
class MappedFile {
public:
    /// Failed, with its path, if it cannot be read.
    [[nodiscard]] static Result<MappedFile> open(const std::string& path);

    MappedFile() = default;
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

private:
    std::span<const std::byte> bytes_;
};

/// The contents of a launch's captured buffers, by their positions among its arguments.
using CapturedContents = std::map<std::size_t, MappedFile>;

/// Opens every file that `launch` uses; returns the first error.
[[nodiscard]] Result<CapturedContents> openCaptured(const LaunchSpec& launch);

/// Writes the captured contents of `buffer` from byte `offset`, a multiple of 16, into `bytes`.
/// Converts floats to doubles if the buffer's elements are doubles. Writes poison after the end of
/// `data`. Async-signal-safe.
void fillFromCaptured(const BufferSpec& buffer, std::span<const std::byte> data,
                      std::uint64_t offset, std::span<std::byte> bytes);

} // namespace kernelskill::engine
