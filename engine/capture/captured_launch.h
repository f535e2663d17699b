/// A launch of a kernel as a program made it, and the file that keeps it (docs/captures.md). The
/// library that records launches inside programs shares this file: it needs nothing of the engine.
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

/// What lies behind a pointer that was passed.
struct CapturedBuffer {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0; ///< From there to the end of its allocation.
    std::string before;      ///< Name of the data when the launch began; empty: it was not kept …
    std::string after;       ///< … and when it had ended.
    std::string missing;     ///< Why there is no data; empty when there is.
    bool operator==(const CapturedBuffer&) const = default;
};

struct CapturedParameter {
    std::uint64_t offset = 0; ///< Where the device's code finds it.
    std::vector<std::byte> value;
    std::optional<CapturedBuffer> buffer; ///< When the value is an address of device memory.
    bool operator==(const CapturedParameter&) const = default;
};

struct CapturedLaunch {
    std::string symbol;        ///< The kernel's name as the compiler mangled it.
    std::uint32_t ordinal = 1; ///< Counts the launches of this kernel by its process.
    std::string program;       ///< "./a.out 1024"
    std::string time;          ///< "2026-01-31T12:00:00Z"
    std::string device;        ///< "NVIDIA H200"
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint64_t sharedBytes = 0; ///< Dynamic.
    std::vector<CapturedParameter> parameters;
    std::string missing; ///< Why nothing is known of what it was passed; empty when it is.
    bool operator==(const CapturedLaunch&) const = default;
};

/// The manifest's text.
[[nodiscard]] std::string formatCapture(const CapturedLaunch& launch);

/// InvalidInput, saying what is wrong, for anything that formatCapture() cannot have written:
/// another format or version, numbers that no launch has, names that are none of dataName().
[[nodiscard]] Result<CapturedLaunch> parseCapture(std::string_view text);

/// The name of data: what equals it has it too. 32 hexadecimal digits.
[[nodiscard]] std::string dataName(const void* bytes, std::size_t count);

/// The manifest's file name: that of the kernel's launch, the same in each process.
[[nodiscard]] std::string manifestName(std::string_view symbol, std::uint32_t ordinal);

/// The folders of a store of captures.
inline constexpr const char* manifestFolder = "launches";
inline constexpr const char* dataFolder = "data";

} // namespace kernelskill::engine
