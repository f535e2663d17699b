/// Decodes host instructions, as far as needed to follow floating-point values.
#pragma once

#include "engine/execution/emulator/compile/predication.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

enum class HostAction : std::uint8_t {
    None, ///< Not an instruction.
    Add,  ///< Or subtract.
    Multiply,
    Fuse,
    Divide,
    Root,
    Convert,
    Copy,
    Call,
    Other,
};

/// An instruction of x86-64 in GNU syntax or of AArch64.
struct HostInstruction {
    HostAction action = HostAction::None;
    bool isDouble = false;
    std::uint32_t lanes = 1;
    bool fromInteger = false; ///< A conversion from an integer.
    /// Locations that are read: registers, with one name for all widths, and stack slots. Other
    /// memory is not followed.
    std::vector<std::string> sources;
    std::string target;        ///< The location that is written; empty if it is not followed.
    std::string_view constant; ///< The constant pool's label that a copy loads from.
    std::string_view callee;   ///< Without linker annotations.
};

[[nodiscard]] HostInstruction hostInstruction(const AssemblyLine& line);

/// Whether a call may change this location.
[[nodiscard]] bool isLostInCalls(const std::string& location);
/// Whether a call may use this location for a floating-point argument.
[[nodiscard]] bool isArgument(const std::string& location);

} // namespace kernelskill::engine
