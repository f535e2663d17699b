/// Classifies instructions by what costs time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kernelskill::engine {

enum class InstructionClass : std::uint8_t {
    GlobalLoad,
    GlobalStore,
    SharedLoad,
    SharedStore,
    LocalLoad, ///< From the thread's stack: spills, and arrays with variable indices.
    LocalStore,
    GenericLoad, ///< From an address whose space is known only at run time.
    GenericStore,
    ConstantLoad, ///< Includes kernel parameters.
    Texture,
    Atomic,    ///< Includes reductions without a result; on global or shared memory.
    AsyncCopy, ///< Between global and shared memory, without registers.
    Tensor,    ///< Matrix multiply-accumulate with its loads and fences.
    Float16,   ///< Includes bfloat16 and pairs.
    Float32,
    Float64,
    SpecialFunction, ///< Reciprocal, square root, sine and similar.
    Integer,         ///< Includes logic, comparison and address arithmetic.
    Conversion,
    Move,
    Warp,    ///< Shuffles, votes, matches.
    Barrier, ///< Barriers of a block, and memory fences.
    Control,
    Other,
    Padding, ///< Never executed: fills the end of a function.
};
inline constexpr std::size_t instructionClassCount =
    static_cast<std::size_t>(InstructionClass::Padding) + 1;

/// "global-load", "float32"
[[nodiscard]] std::string_view spelling(InstructionClass kind);
/// The name for people: "global load", "fp32".
[[nodiscard]] std::string_view title(InstructionClass kind);

/// The class of an opcode with modifiers: "ld.global.nc.f32", "LDG.E.CONSTANT".
[[nodiscard]] InstructionClass classOfPtx(std::string_view opcode);
[[nodiscard]] InstructionClass classOfSass(std::string_view opcode);

} // namespace kernelskill::engine
