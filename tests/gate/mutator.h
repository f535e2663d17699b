/// Makes wrong versions of a kernel, each with one small mistake, as tests of the Reviewer.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/source/text_edit.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::testing {

/// The kind of mistake. Every class of wrong edits that a reviewer may meet has one.
enum class MutationOperator : std::uint8_t {
    Comparison, ///< `<` for `<=`
    Constant,   ///< 16 for 15
    Operator,   ///< `-` for `+`
    Index,      ///< x[i + 1] for x[i], threadIdx.y for threadIdx.x
    Guard,      ///< a condition that is always or never taken
    Barrier,    ///< a barrier that is missing or joins only a warp
    Atomic,     ///< a plain update, or another one
    Scope,      ///< an atomic or fence for the block only
    TypeWidth,  ///< int for size_t, float for double, 16 bits for 32
    Mask,       ///< a shuffle that misses lanes
    Special,    ///< wrong only for zero, NaN, negative or large values
    Precision,  ///< slightly wrong, or with small results flushed to zero
    Tail,       ///< the last elements left out, for some sizes
    Position,   ///< wrong only in blocks or elements far from the beginning
    Scalar,     ///< a parameter's present value in place of the parameter
    Launch,     ///< another grid, block or amount of shared memory
    Instance,   ///< wrong only in the last template instance that the file launches
    Alias,      ///< a value from before a write that may have changed it
    Clock,      ///< another time than the clock's
};
inline constexpr std::array<std::string_view, 19> operatorNames{
    "comparison", "constant",   "operator", "index",   "guard",     "barrier", "atomic",
    "scope",      "type-width", "mask",     "special", "precision", "tail",    "position",
    "scalar",     "launch",     "instance", "alias",   "clock"};

struct Mutant {
    MutationOperator mutation = MutationOperator::Comparison;
    std::uint32_t line = 0; ///< One-based.
    analysis::TextEdit edit;
    std::string before; ///< The text that the edit replaces.
};

/// All mutants of `kernel`, whose file's text is `text`, in the order of the text. Code from macros
/// is left alone.
[[nodiscard]] std::vector<Mutant> mutantsOf(const analysis::FileModel& file,
                                            const analysis::KernelModel& kernel,
                                            std::string_view text);

} // namespace kernelskill::testing
