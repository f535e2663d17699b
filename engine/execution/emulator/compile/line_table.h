/// Maps addresses in an image to the user's lines.
#pragma once

#include "analysis/source/error.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The source place of a machine address.
struct SourcePlace {
    std::string file; ///< Absolute path of the user's file; empty if no inlined frame is in one.
    std::uint32_t line = 0; ///< Zero-based.
    std::string function;   ///< Demangled name of the frame's function.
};

/// The places of code addresses, in order. Addresses are offsets from the load base of
/// `sharedObject`. Each is looked up exactly: pass "return address - 1" for a call. Uses addr2line;
/// Missing if that is not installed.
[[nodiscard]] Result<std::vector<SourcePlace>>
resolvePlaces(const std::filesystem::path& sharedObject, std::span<const std::uint64_t> offsets,
              std::stop_token stop);

} // namespace kernelskill::engine
