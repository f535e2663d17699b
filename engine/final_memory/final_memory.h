/// Reads the files in which a recorder keeps the last contents of a program's buffers on the GPU:
/// those from before the program frees a buffer, or from the program's end.
#pragma once

#include "analysis/source/error.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Contains formatFinalMemoryTarget(). The recorder writes only inside the folder that it names.
inline constexpr const char* finalMemoryVariable = "KERNELSKILL_FINAL_MEMORY";

struct FinalMemoryTarget {
    std::string folder;                       ///< Absolute; it exists.
    std::string cupti;                        ///< Path of CUPTI; if empty, the loader searches it.
    std::uint64_t totalBytes = 1024ull << 20; ///< Limit of what a process records.
};

[[nodiscard]] std::string formatFinalMemoryTarget(const FinalMemoryTarget& target);
/// InvalidInput for any other text.
[[nodiscard]] Result<FinalMemoryTarget> parseFinalMemoryTarget(std::string_view text);

/// A parameter with which a launch passed an address in a buffer.
struct BufferUse {
    std::string symbol;          ///< The kernel's.
    std::uint32_t parameter = 0; ///< Its index.
    bool operator==(const BufferUse&) const = default;
};

struct FinalBuffer {
    std::uint64_t number = 0; ///< Counts the process's allocations up to this one.
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> offset; ///< Of its contents in the file; nullopt: not recorded.
    std::string why;                     ///< Why they are not recorded; else empty.
    std::vector<BufferUse> uses;         ///< Some of them, each once.
};

/// The buffers of the one process that used the GPU.
struct FinalMemory {
    std::filesystem::path contents;   ///< The file that holds what was recorded.
    std::vector<FinalBuffer> buffers; ///< By number.
    /// Whether the process was followed to its end. Else buffers that it did not free are missing.
    bool isComplete = false;
};

/// The files of a process in the target's folder.
[[nodiscard]] std::filesystem::path bufferListFile(const std::filesystem::path& folder,
                                                   std::int64_t process);
[[nodiscard]] std::filesystem::path bufferContentsFile(const std::filesystem::path& folder,
                                                       std::int64_t process);

/// Each function returns one line with its line end.
[[nodiscard]] std::string bufferListHead();
[[nodiscard]] std::string lineOf(const FinalBuffer& buffer);
[[nodiscard]] std::string bufferListEnd();

/// Reads a list. `size` is that of its contents, `list` the file's path for messages. InvalidInput
/// for any other text. Ignores an incomplete last line.
[[nodiscard]] Result<FinalMemory> parseBufferList(std::string_view text, std::uint64_t size,
                                                  const std::filesystem::path& list);

/// Missing if no process with a buffer was recorded; Unsupported if several were; InvalidInput for
/// other contents of the files.
[[nodiscard]] Result<FinalMemory> readFinalMemory(const std::filesystem::path& folder);

} // namespace kernelskill::engine
