/// A kernel as the instructions that a compiler made of it, each with its place in the source.
#pragma once

#include "engine/assembly/instruction_class.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

enum class AssemblyLanguage : std::uint8_t {
    Ptx,  ///< What the compiler hands to the assembler, the same for a family of GPUs.
    Sass, ///< What one GPU architecture executes.
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
    /// Bytes from the start of its section (SASS), or line of the compiler's text (PTX,
    /// zero-based).
    std::uint32_t address = 0;
    std::string text;   ///< On one line, single blanks, without its semicolon.
    std::string opcode; ///< "ld.global.v4.f32", "LDG.E.128"; without guard and operands.
    InstructionClass kind = InstructionClass::Other;
    std::uint32_t function = 0; ///< Index into Listing::functions.
    /// Innermost first, each inlined at the next; empty where the line table names no line.
    std::vector<CodePlace> places;
};

/// What a branch goes to.
struct AssemblyLabel {
    std::string name;
    std::uint32_t before = 0; ///< Index of the instruction that follows.
};

/// The kernel, or a function that it calls and that was not inlined.
struct AssemblyFunction {
    std::string symbol;      ///< Mangled.
    std::uint32_t first = 0; ///< Index of its first instruction.
};

struct Listing {
    AssemblyLanguage language = AssemblyLanguage::Ptx;
    std::vector<std::string> files; ///< As the line table names them; user's files absolute.
    std::vector<AssemblyFunction> functions; ///< The kernel first.
    std::vector<AssemblyInstruction> instructions;
    std::vector<AssemblyLabel> labels; ///< By `before`.
};

/// How many instructions there are of each class.
using ClassCounts = std::array<std::uint32_t, instructionClassCount>;

/// Of code that may be executed: what only fills the end of a function is left out.
[[nodiscard]] std::uint32_t totalOf(const ClassCounts& counts);
[[nodiscard]] ClassCounts countClasses(const Listing& listing);

/// "saxpy" of the symbol of blas::saxpy<float>; the symbol itself where it is not mangled.
[[nodiscard]] std::string readableName(const std::string& symbol);

} // namespace kernelskill::engine
