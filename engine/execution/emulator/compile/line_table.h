/// The line table of an image: from addresses in it back to the user's lines.
#pragma once

#include "analysis/source/error.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Place of a machine address, as the user sees it.
struct SourcePlace {
    std::string
        file; ///< Absolute path of the user's file; empty when no inlined frame lies in one.
    std::uint32_t line = 0; ///< Zero-based.
    std::string function;   ///< Demangled name of the frame's function.
};

/// Places of code addresses, given as offsets from the load base of `sharedObject`, in order. An
/// address is looked up as it is: give "return address - 1" for a call. Uses addr2line; Missing
/// when it is not there.
[[nodiscard]] Result<std::vector<SourcePlace>>
resolvePlaces(const std::filesystem::path& sharedObject, std::span<const std::uint64_t> offsets,
              std::stop_token stop);

} // namespace kernelskill::engine
