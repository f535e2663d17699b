/// What an instruction does, as far as it matters for where the time goes.
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
    LocalLoad, ///< Of the thread's stack: spills and arrays that are indexed.
    LocalStore,
    GenericLoad, ///< Of an address whose space is known when it runs only.
    GenericStore,
    ConstantLoad, ///< Kernel parameters among them.
    Texture,
    Atomic,    ///< Reductions without a result among them; on global or shared memory.
    AsyncCopy, ///< From global to shared memory or back, past the registers.
    Tensor,    ///< Matrix multiply-accumulate, and the loads and fences that belong to it.
    Float16,   ///< bfloat16 and pairs among them.
    Float32,
    Float64,
    SpecialFunction, ///< Reciprocal, square root, sine and the like.
    Integer,         ///< Logic, comparison and address arithmetic among them.
    Conversion,
    Move,
    Warp,    ///< Shuffles, votes, matches.
    Barrier, ///< Of a block or of memory.
    Control,
    Other,
    Padding, ///< Never executed: fills the end of a function.
};
inline constexpr std::size_t instructionClassCount =
    static_cast<std::size_t>(InstructionClass::Padding) + 1;

/// "global-load", "float32"
[[nodiscard]] std::string_view spelling(InstructionClass kind);
/// "global load", "fp32": for people.
[[nodiscard]] std::string_view title(InstructionClass kind);

/// Of an opcode with its modifiers: "ld.global.nc.f32", "LDG.E.CONSTANT".
[[nodiscard]] InstructionClass classOfPtx(std::string_view opcode);
[[nodiscard]] InstructionClass classOfSass(std::string_view opcode);

} // namespace kernelskill::engine
