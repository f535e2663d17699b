/// What a small device answers where host code asks for its properties.
#pragma once

#include "engine/inputs/program_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// A member of cudaDeviceProp; nullopt for one that no grid or block is sized by. Small, so that
/// grids sized by it stay small enough to emulate.
[[nodiscard]] std::optional<std::int64_t> deviceProperty(std::string_view member);

/// The number that the last call of cudaDeviceGetAttribute or
/// cudaOccupancyMaxActiveBlocksPerMultiprocessor before `place`, in the same function, puts into
/// the variable.
[[nodiscard]] std::optional<std::int64_t> deviceAnswer(const ProgramText& program, TextPlace place,
                                                       const std::string& variable);

} // namespace kernelskill::engine
