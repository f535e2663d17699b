/// The files behind buffers that a program was seen to pass.
#pragma once

#include "analysis/source/error.h"
#include "engine/execution/job.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace kernelskill::engine {

/// A file's bytes, mapped for reading: pages come in as they are touched, and who maps the same
/// file shares them.
class MappedFile {
public:
    /// Failed, with its path, when it cannot be read.
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

/// Opens every file that `launch` is filled from; the error of the first that cannot be.
[[nodiscard]] Result<CapturedContents> openCaptured(const LaunchSpec& launch);

/// Writes what `buffer` holds from byte `offset` on, a multiple of 16, into `bytes`: `data` as it
/// is, or as doubles where it holds floats and the buffer does not. Poison behind its end.
/// Async-signal-safe.
void fillFromCaptured(const BufferSpec& buffer, std::span<const std::byte> data,
                      std::uint64_t offset, std::span<std::byte> bytes);

} // namespace kernelskill::engine
