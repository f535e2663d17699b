/// Instructions of the host, as far as floating-point values are followed through them.
#pragma once

#include "engine/execution/emulator/compile/predication.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

enum class HostAction : std::uint8_t {
    None, ///< No instruction.
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

/// Of x86-64 in GNU syntax or of AArch64.
struct HostInstruction {
    HostAction action = HostAction::None;
    bool isDouble = false;
    std::uint32_t lanes = 1;
    bool fromInteger = false; ///< A conversion.
    /// Locations that are read: registers by one name for all their widths, and slots of the
    /// stack. What lies elsewhere in memory is not followed.
    std::vector<std::string> sources;
    std::string target;        ///< Location that is written; empty for none that is followed.
    std::string_view constant; ///< Label of what a copy loads from the constant pool.
    std::string_view callee;   ///< Without what tells the linker how.
};

[[nodiscard]] HostInstruction hostInstruction(const AssemblyLine& line);

/// Whether a call may change what lies there.
[[nodiscard]] bool isLostInCalls(const std::string& location);
/// Whether a call may pass it as a floating-point argument.
[[nodiscard]] bool isArgument(const std::string& location);

} // namespace kernelskill::engine
