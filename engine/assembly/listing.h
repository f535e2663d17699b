/// A kernel's instructions, each with its place in the source.
#pragma once

#include "engine/assembly/instruction_class.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

enum class AssemblyLanguage : std::uint8_t {
    Ptx,  ///< The assembler's input, the same for a family of GPUs.
    Sass, ///< The code that one GPU architecture executes.
};
/// "PTX", "SASS"
[[nodiscard]] std::string_view spelling(AssemblyLanguage language);

/// A line of a source file.
struct CodePlace {
    std::uint32_t file = 0; ///< Index into Listing::files.
    std::uint32_t line = 0; ///< Zero-based.
    auto operator<=>(const CodePlace&) const = default;
};

struct AssemblyInstruction {
    /// For SASS, bytes from the start of its section; for PTX, the zero-based line of the
    /// compiler's text.
    std::uint32_t address = 0;
    std::string text;   ///< On one line, with single blanks, without semicolon.
    std::string opcode; ///< "ld.global.v4.f32", "LDG.E.128"; without guard and operands.
    InstructionClass kind = InstructionClass::Other;
    std::uint32_t function = 0; ///< Index into Listing::functions.
    /// Innermost first, each inlined at the next one; empty if the line table has no line.
    std::vector<CodePlace> places;
};

/// The target of a branch.
struct AssemblyLabel {
    std::string name;
    std::uint32_t before = 0; ///< Index of the instruction after it.
};

/// The kernel, or a function that it calls and that is not inlined.
struct AssemblyFunction {
    std::string symbol;      ///< Mangled.
    std::uint32_t first = 0; ///< Index of its first instruction.
};

struct Listing {
    AssemblyLanguage language = AssemblyLanguage::Ptx;
    std::vector<std::string> files; ///< As in the line table; the user's files are absolute.
    std::vector<AssemblyFunction> functions; ///< The kernel first.
    std::vector<AssemblyInstruction> instructions;
    std::vector<AssemblyLabel> labels; ///< Sorted by `before`.
};

/// The number of instructions of each class.
using ClassCounts = std::array<std::uint32_t, instructionClassCount>;

/// The number of instructions that may be executed, without padding.
[[nodiscard]] std::uint32_t totalOf(const ClassCounts& counts);
[[nodiscard]] ClassCounts countClasses(const Listing& listing);

/// "saxpy" for the symbol of blas::saxpy<float>; the symbol itself if it is not mangled.
[[nodiscard]] std::string readableName(const std::string& symbol);

} // namespace kernelskill::engine
