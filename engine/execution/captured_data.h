/// Reads the files that contain captured buffers.
#pragma once

#include "analysis/source/error.h"
#include "engine/execution/job.h"
#include "engine/storage/mapped_file.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace kernelskill::engine {

/// The file of a captured buffer; Failed, with its path, if it cannot be read or is a link.
[[nodiscard]] Result<MappedFile> openCapturedFile(const std::string& path);

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
