/// The error that an edit states: what it may change of results, and by how much.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelskill::skills {

/// Ordered from the most exact to the least.
enum class Numerics : std::uint8_t {
    Exact,
    Reassociates, ///< Sums and products are formed in another order.
    ReducedPrecision
};

/// The error of functions that an edit brings in, against the exact result.
struct StatedError {
    double ulps = 0; ///< Relative, in units in the last place of a float near 1 (2^-23).
    /// For functions whose relative error has no bound near zero: against results of magnitude 1.
    double absolute = 0;

    /// The errors of two functions of one kernel add up.
    StatedError& operator+=(const StatedError& other) {
        ulps += other.ulps;
        absolute += other.absolute;
        return *this;
    }
    bool operator==(const StatedError&) const = default;
};

constexpr double unitInTheLastPlace = 0x1p-23;

/// The error that an edit of reduced precision is held to if it states none: that of a few
/// intrinsics of CUDA. Nothing otherwise, since other orders have errors of the original's kind.
[[nodiscard]] StatedError errorByDefault(Numerics numerics);

/// The maximum error that CUDA documents for `function`, by the name for float, at arguments up to
/// 8 in magnitude, with the rounding to float. nullopt if none is documented. Source: CUDA C++
/// Programming Guide, Mathematical Functions: Standard Functions and Intrinsic Functions.
[[nodiscard]] std::optional<StatedError> documentedError(std::string_view function);

/// What an edit promises of its results.
struct Accuracy {
    Numerics numerics = Numerics::Exact;
    StatedError error;

    /// With the error by default.
    Accuracy(Numerics kind = Numerics::Exact) : numerics(kind), error(errorByDefault(kind)) {}
    Accuracy(Numerics kind, const StatedError& stated) : numerics(kind), error(stated) {}
    bool operator==(const Accuracy&) const = default;
};

/// What two edits promise, made one after the other.
[[nodiscard]] Accuracy combined(const Accuracy& first, const Accuracy& second);

} // namespace kernelskill::skills
