#include "skills/invariant-hoisting/costly_functions.h"

#include "analysis/model/known_functions.h"

#include <algorithm>
#include <array>
#include <string>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The number of instructions that run for common arguments, counted in what nvcc 13.0 makes for
/// sm_90; 0: one or two.
struct CostRow {
    std::string_view name;
    std::string_view noun;
    double narrow = 0; ///< In float.
    double wide = 0;   ///< In double.
    bool isNarrowStraight = true;
    bool isWideStraight = true;
};

constexpr auto costRows = std::to_array<CostRow>({
    {"pow", "power", 110, 160, false, false},
    {"sin", "sine", 30, 55, false, false},
    {"cos", "cosine", 30, 55, false, false},
    {"tan", "tangent", 40, 80, false, false},
    {"sinpi", "sine", 35, 50, true, false},
    {"cospi", "cosine", 35, 50, true, false},
    {"asin", "angle", 33, 95, true, true},
    {"acos", "angle", 35, 120, true, false},
    {"atan", "angle", 30, 58, true, true},
    {"atan2", "angle", 43, 72, true, true},
    {"sinh", "sine", 36, 90, true, true},
    {"cosh", "cosine", 23, 62, true, true},
    {"tanh", "tangent", 23, 82, true, true},
    {"exp", "exponential", 18, 60, true, true},
    {"exp2", "exponential", 0, 64, true, true},
    {"exp10", "exponential", 18, 70, true, true},
    {"expm1", "exponential", 31, 67, true, true},
    {"log", "logarithm", 23, 88, true, false},
    {"log2", "logarithm", 26, 90, true, false},
    {"log10", "logarithm", 24, 90, true, false},
    {"log1p", "logarithm", 39, 115, true, false},
    {"cbrt", "root", 12, 54, true, true},
    {"hypot", "distance", 22, 42, true, true},
    {"erf", "error", 25, 92, true, true},
    {"erfc", "error", 68, 150, true, true},
    {"tgamma", "gamma", 210, 360, false, false},
    {"lgamma", "gamma", 320, 160, false, false},
    {"fmod", "remainder", 80, 270, false, false},
    {"remainder", "remainder", 100, 290, false, false},
});

} // namespace

std::optional<CostlyFunction> costlyFunction(const Expr& expr) {
    const bool isWide = expr.type.scalar == ScalarKind::Double;
    if (expr.kind != ExprKind::Call || expr.isMethod || expr.type.pointerDepth != 0 ||
        expr.type.lanes != 1 || (!isWide && expr.type.scalar != ScalarKind::Float))
        return std::nullopt;
    const std::string_view name = unqualified(expr.name);
    for (const CostRow& function : costRows) {
        const bool isNarrowName = name.size() == function.name.size() + 1 && name.ends_with('f') &&
                                  name.starts_with(function.name);
        const double instructions = isWide ? function.wide : function.narrow;
        if ((name == function.name || isNarrowName) && instructions > 0)
            return CostlyFunction{function.name, function.noun, instructions,
                                  isWide ? function.isWideStraight : function.isNarrowStraight};
    }
    return std::nullopt;
}

} // namespace kernelskill::skills
