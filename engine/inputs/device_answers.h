/// The properties that a small device would report to host code: grids sized by them stay small
/// enough to emulate.
#pragma once

#include "engine/inputs/program_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// The value of a member of cudaDeviceProp; nullopt for one that no grid or block is sized by.
[[nodiscard]] std::optional<std::int64_t> deviceProperty(std::string_view member);

/// The value of the variable at `place` if a call of cudaDeviceGetAttribute or
/// cudaOccupancyMaxActiveBlocksPerMultiprocessor before it, in the same function, sets it: as the
/// last such call does.
[[nodiscard]] std::optional<std::int64_t> deviceAnswer(const ProgramText& program, TextPlace place,
                                                       const std::string& variable);

} // namespace kernelskill::engine
