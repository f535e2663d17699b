/// Algebraic changes of raised programs: each has a name by which it is switched off, a condition
/// that holds where it is used, and an obligation, by which a reviewer tries to break it.
#pragma once

#include "analysis/raise/program.h"
#include "engine/graph/program.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

/// One simplification that was done to a program.
struct Simplification {
    std::string name;               ///< "sum-over-linear"
    std::vector<std::string> nodes; ///< The graph's nodes whose work it changes.
    std::string what;               ///< "the sums of linear are taken of its weights, once"
    std::string condition;          ///< Why it may be done here.
    bool reordersSums = false;      ///< Results differ by rounding.
    bool needsFiniteInputs = false; ///< Results can differ if a number is Inf or NaN.
};

/// Inputs that are made to break a simplification.
enum class Challenge : std::uint8_t {
    Usual,      ///< Between -1 and 1.
    Cancelling, ///< Large ones that sum to nearly nothing.
    OneSign,    ///< From 0 to 1.
    Tiny,       ///< Down to 1e-30.
    Zeros,      ///< All zero.
    Mixed,      ///< Zeros, ones and large ones.
    NotANumber, ///< One element is NaN.
    Infinite,   ///< One element is Inf.
};

/// How the program before and the program after are compared, in float64.
struct Obligation {
    std::vector<Challenge> challenges;
    /// The largest difference, in units of the largest number that the program before computes.
    double tolerance = 0;
    /// Elements that are no numbers, or infinite, in one are so in the other.
    bool keepsNotFinite = true;
};

struct SimplificationKind {
    std::string_view name;
    std::string_view what; ///< One sentence.
    Obligation obligation;
};
/// All kinds, in the order in which they are tried.
[[nodiscard]] std::vector<SimplificationKind> simplificationKinds();

struct SimplifyOptions {
    std::set<std::string> off; ///< Names of kinds that are not used.
    /// Values of constants, by the names of buffers' sources; each element is that.
    std::map<std::string, double> constants;
};

struct SimplifiedProgram {
    analysis::raise::Program program; ///< Fused; buffers keep their numbers, new ones follow.
    std::vector<Simplification> simplifications;
    /// Outputs whose elements are all one number, whatever the inputs.
    std::map<analysis::raise::BufferId, double> constantOutputs;
};

/// The constants of the archive that have one element, by their names in the graph.
[[nodiscard]] std::map<std::string, double> heldConstants(const Program& graph);

/// Fuses and simplifies until nothing changes. Values of weights alone are computed by steps
/// of their own (see dependsOnWeightsAlone).
[[nodiscard]] SimplifiedProgram simplified(analysis::raise::Program program,
                                           const SimplifyOptions& options = {});

} // namespace kernelskill::engine::graph
