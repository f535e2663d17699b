/// The properties that a device would report to host code that sizes a grid by them.
#pragma once

#include "engine/inputs/program_text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace kernelskill::engine {

/// The device that is taken to answer.
enum class AnsweringDevice : std::uint8_t {
    Small,      ///< Grids that it sizes stay small enough to emulate.
    DataCentre, ///< analysis::DataCentreGpu: a grid that it sizes fills a GPU.
};

/// Returns the value of a member of cudaDeviceProp; nullopt for one that no grid or block is sized
/// by.
[[nodiscard]] std::optional<std::int64_t> deviceProperty(std::string_view member,
                                                         AnsweringDevice device);

/// Returns how many blocks of so many threads a multiprocessor holds, if registers and shared
/// memory allow it.
[[nodiscard]] std::int64_t residentBlocks(std::int64_t threadsOfBlock, AnsweringDevice device);

/// The tokens [first, second) of a question's argument: the threads of a block.
using BlockSizeTokens = std::pair<std::size_t, std::size_t>;

/// Returns what a question to the device gives the variable at `place`: a value, or, for a number
/// of resident blocks, the tokens of the block's size. Finds the last call of
/// cudaDeviceGetAttribute or cudaOccupancyMaxActiveBlocksPerMultiprocessor before the place in the
/// same function that sets the variable; nullopt if there is none.
[[nodiscard]] std::optional<std::variant<std::int64_t, BlockSizeTokens>>
deviceAnswer(const ProgramText& program, TextPlace place, const std::string& variable,
             AnsweringDevice device);

} // namespace kernelskill::engine
