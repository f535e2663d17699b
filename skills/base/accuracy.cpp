#include "skills/base/accuracy.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kernelskill::skills {
namespace {

/// The inputs of a review have this magnitude at most where an edit may round differently.
constexpr double largestArgument = 8;
constexpr double pi = 3.14159265358979323846;

/// A row of the guide's tables.
struct FunctionError {
    std::string_view name;
    double ulps = 0;
    double ulpsPerUnit = 0; ///< More for each unit of the argument's magnitude.
    double absolute = 0;    ///< 2^-21.41 for __sinf, 2^-21.19 for __cosf, and so on.
    bool growsBeyondPi = false;
};

constexpr auto functionErrors = std::to_array<FunctionError>({
    {"__fdividef", 2},
    {"__expf", 2, 1.173},
    {"__exp10f", 2, 2.97},
    {"__logf", 3, 0, 3.59e-7},
    {"__log2f", 2, 0, 2.38e-7},
    {"__log10f", 3, 0, 5.96e-8},
    {"__sinf", 0.5, 0, 3.59e-7, true},
    {"__cosf", 0.5, 0, 4.18e-7, true},
    {"__tanhf", 4128}, // 2^-10.987, relative
    {"rsqrtf", 2},
    {"sqrtf", 0.5},
    {"expf", 1},
    {"exp2f", 2},
    {"exp10f", 2},
    {"expm1f", 1},
    {"logf", 1},
    {"log2f", 1},
    {"log10f", 2},
    {"log1pf", 1},
    {"sinf", 2},
    {"cosf", 2},
    {"tanf", 4},
    {"sinhf", 3},
    {"coshf", 2},
    {"tanhf", 2},
    {"powf", 4},
    {"erff", 2},
    {"erfcf", 4},
    {"cbrtf", 1},
    {"hypotf", 3},
});

constexpr StatedError reducedByDefault{64, 0};

} // namespace

StatedError errorByDefault(Numerics numerics) {
    return numerics == Numerics::ReducedPrecision ? reducedByDefault : StatedError{};
}

std::optional<StatedError> documentedError(std::string_view function) {
    const auto found = std::ranges::find(functionErrors, function, &FunctionError::name);
    if (found == functionErrors.end())
        return std::nullopt;
    return StatedError{found->ulps + std::floor(found->ulpsPerUnit * largestArgument),
                       found->absolute * (found->growsBeyondPi ? largestArgument / pi : 1)};
}

Accuracy combined(const Accuracy& first, const Accuracy& second) {
    StatedError error = first.error;
    error += second.error;
    return {std::max(first.numerics, second.numerics), error};
}

} // namespace kernelskill::skills
