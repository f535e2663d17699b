/// Two versions of a kernel's code beside each other.
#pragma once

#include "engine/assembly/kernel_assembly.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

enum class RowChange : std::uint8_t {
    Same,    ///< But for the numbers of registers and the names of labels.
    Changed, ///< The same opcode with other operands.
    Removed,
    Added,
};
/// "same", "changed", "removed", "added"
[[nodiscard]] std::string_view spelling(RowChange change);

/// Instructions that stand beside each other; what has no counterpart stands alone.
struct AlignedRow {
    RowChange change = RowChange::Same;
    std::optional<std::uint32_t> before; ///< Index into the listing's instructions.
    std::optional<std::uint32_t> after;
};

/// An opcode that one version has more often.
struct OpcodeChange {
    std::string opcode;
    std::uint32_t before = 0;
    std::uint32_t after = 0;
};

struct AssemblyDifference {
    ClassCounts before{};
    ClassCounts after{};
    std::vector<OpcodeChange> opcodes; ///< The largest change first; those that changed only.
    std::vector<AlignedRow> rows;      ///< Each instruction of both once, padding left out.
};

[[nodiscard]] AssemblyDifference compareListings(const Listing& before, const Listing& after);

/// An instruction's text without what an assembler or compiler numbers anew in each version:
/// "ld.global.f32 %f, [%rd]", "LDG.E R, desc[UR][R.64]".
[[nodiscard]] std::string withoutNumbering(std::string_view text, AssemblyLanguage language);

} // namespace kernelskill::engine
