/// A launch of a kernel by a program, and its file format (docs/captures.md). The library that
/// records launches inside programs includes this file, so it depends on nothing else in the
/// engine.
#pragma once

#include "analysis/source/error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// The memory behind a pointer argument.
struct CapturedBuffer {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0; ///< From the pointer to the end of its allocation.
    std::string before;      ///< Name of the data before the launch; empty if it was not saved.
    std::string after;       ///< Name of the data after the launch; empty if it was not saved.
    std::string missing;     ///< Why there is no data; empty if there is.
    bool operator==(const CapturedBuffer&) const = default;
};

struct CapturedParameter {
    std::uint64_t offset = 0; ///< Offset in the parameter buffer.
    std::vector<std::byte> value;
    std::optional<CapturedBuffer> buffer; ///< Set if the value is an address of device memory.
    bool operator==(const CapturedParameter&) const = default;
};

struct CapturedLaunch {
    std::string symbol;        ///< The kernel's mangled name.
    std::uint32_t ordinal = 1; ///< Counts this kernel's launches in its process.
    std::string program;       ///< "./a.out 1024"
    std::string time;          ///< "2026-01-31T12:00:00Z"
    std::string device;        ///< "NVIDIA H200"
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint64_t sharedBytes = 0; ///< Dynamic shared memory.
    std::vector<CapturedParameter> parameters;
    std::string missing; ///< Why the arguments are unknown; empty if they are known.
    bool operator==(const CapturedLaunch&) const = default;
};

/// Writes the manifest.
[[nodiscard]] std::string formatCapture(const CapturedLaunch& launch);

/// Fails with InvalidInput and the reason if formatCapture() cannot have written `text`: another
/// format or version, numbers that no launch has, or names that are not from dataName().
[[nodiscard]] Result<CapturedLaunch> parseCapture(std::string_view text);

/// The name of data: 32 hexadecimal digits. Equal data has equal names.
[[nodiscard]] std::string dataName(const void* bytes, std::size_t count);

/// The manifest's file name for a launch of the kernel. It is the same in each process.
[[nodiscard]] std::string manifestName(std::string_view symbol, std::uint32_t ordinal);

/// The folders of a store of captures.
inline constexpr const char* manifestFolder = "launches";
inline constexpr const char* dataFolder = "data";

} // namespace kernelskill::engine
