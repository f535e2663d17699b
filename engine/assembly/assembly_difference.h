/// Compares two versions of a kernel's machine code.
#pragma once

#include "engine/assembly/kernel_assembly.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

enum class RowChange : std::uint8_t {
    Same,    ///< Equal except for register numbers and label names.
    Changed, ///< The same opcode with other operands.
    Removed,
    Added,
};
/// "same", "changed", "removed", "added"
[[nodiscard]] std::string_view spelling(RowChange change);

/// Two matching instructions; an instruction without a match is alone.
struct AlignedRow {
    RowChange change = RowChange::Same;
    std::optional<std::uint32_t> before; ///< Index into the listing's instructions.
    std::optional<std::uint32_t> after;
};

/// An opcode whose count differs between the versions.
struct OpcodeChange {
    std::string opcode;
    std::uint32_t before = 0;
    std::uint32_t after = 0;
};

struct AssemblyDifference {
    ClassCounts before{};
    ClassCounts after{};
    std::vector<OpcodeChange> opcodes; ///< Only those that changed, largest change first.
    std::vector<AlignedRow> rows;      ///< Each instruction of both, without padding.
};

[[nodiscard]] AssemblyDifference compareListings(const Listing& before, const Listing& after);

/// An instruction's text without numbers that differ from build to build: "ld.global.f32 %f,
/// [%rd]", "LDG.E R, desc[UR][R.64]".
[[nodiscard]] std::string withoutNumbering(std::string_view text, AssemblyLanguage language);

} // namespace kernelskill::engine
