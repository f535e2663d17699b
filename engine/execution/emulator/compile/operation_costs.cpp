#include "engine/execution/emulator/compile/operation_costs.h"

#include <algorithm>
#include <array>

namespace kernelskill::engine {
namespace {

using emulator::Counter;

struct NamedCost {
    std::string_view name;
    std::array<OperationCost, 4> operations{};
    bool endsInProduct = false;
};

/// Functions that are one instruction each.
constexpr auto instructions = std::to_array<NamedCost>({
    {"fadd", {{{Counter::SingleAdds, 1}}}},
    {"fmul", {{{Counter::SingleMultiplies, 1}}}},
    {"ffma", {{{Counter::SingleFused, 1}}}},
    {"fmaf", {{{Counter::SingleFused, 1}}}},
    {"dadd", {{{Counter::DoubleAdds, 1}}}},
    {"dmul", {{{Counter::DoubleMultiplies, 1}}}},
    {"dfma", {{{Counter::DoubleFused, 1}}}},
    {"fma", {{{Counter::DoubleFused, 1}}}},
    {"hadd", {{{Counter::HalfAdds, 1}, {Counter::HalfOperations, 1}}}},
    {"hmul", {{{Counter::HalfMultiplies, 1}, {Counter::HalfOperations, 1}}}},
    {"hfma", {{{Counter::HalfFused, 1}, {Counter::HalfOperations, 2}}}},
    {"hadd2", {{{Counter::HalfAdds, 1}, {Counter::HalfOperations, 2}}}},
    {"hmul2", {{{Counter::HalfMultiplies, 1}, {Counter::HalfOperations, 2}}}},
    {"hfma2", {{{Counter::HalfFused, 1}, {Counter::HalfOperations, 4}}}},
});

/// Functions that are several instructions. Counted by Nsight Compute 2025.3 on an H200
/// (tests/accuracy/arithmetic.cu, nvcc 13.0) for ordinary arguments; the code is the same for
/// sm_80, sm_89 and sm_100. Instructions of the special-function unit do not count as arithmetic.
constexpr auto sequences = std::to_array<NamedCost>({
    {"fdiv", {{{Counter::SingleFused, 5}}}},
    {"frcp", {{{Counter::SingleAdds, 1}, {Counter::SingleFused, 2}}}},
    {"sqrtf", {{{Counter::SingleMultiplies, 2}, {Counter::SingleFused, 2}}}},
    {"rsqrtf", {}},
    {"expf",
     {{{Counter::SingleAdds, 1}, {Counter::SingleFused, 4}, {Counter::SingleMultiplies, 1}}},
     true},
    {"exp2f", {}},
    {"logf",
     {{{Counter::SingleAdds, 1},
       {Counter::SingleMultiplies, 1},
       {Counter::SingleFused, 11},
       {Counter::Conversions, 1}}}},
    {"log2f",
     {{{Counter::SingleAdds, 2},
       {Counter::SingleMultiplies, 2},
       {Counter::SingleFused, 11},
       {Counter::Conversions, 1}}}},
    {"log10f",
     {{{Counter::SingleAdds, 1},
       {Counter::SingleMultiplies, 2},
       {Counter::SingleFused, 11},
       {Counter::Conversions, 1}}}},
    {"log1pf",
     {{{Counter::SingleAdds, 2},
       {Counter::SingleMultiplies, 2},
       {Counter::SingleFused, 11},
       {Counter::Conversions, 1}}}},
    {"sinf",
     {{{Counter::SingleMultiplies, 2}, {Counter::SingleFused, 7}, {Counter::Conversions, 2}}}},
    {"cosf",
     {{{Counter::SingleMultiplies, 2}, {Counter::SingleFused, 8}, {Counter::Conversions, 2}}}},
    {"tanhf",
     {{{Counter::SingleAdds, 1}, {Counter::SingleMultiplies, 2}, {Counter::SingleFused, 6}}}},
    {"erff", {{{Counter::SingleMultiplies, 1}, {Counter::SingleFused, 7}}}},
    {"powf",
     {{{Counter::SingleAdds, 11},
       {Counter::SingleMultiplies, 9},
       {Counter::SingleFused, 19},
       {Counter::Conversions, 3}}}},
    {"__fdividef", {{{Counter::SingleMultiplies, 1}}}},
    {"__expf", {{{Counter::SingleMultiplies, 1}}}},
    {"__exp2f", {}},
    {"__logf", {{{Counter::SingleMultiplies, 1}}}},
    {"__log2f", {}},
    {"__log10f", {{{Counter::SingleMultiplies, 1}}}},
    {"__sinf", {{{Counter::SingleMultiplies, 1}}}},
    {"__cosf", {{{Counter::SingleMultiplies, 1}}}},
    {"__powf", {{{Counter::SingleMultiplies, 1}}}},
    {"__frcp_approx", {}},
    {"floorf", {{{Counter::Conversions, 1}}}},
    {"ceilf", {{{Counter::Conversions, 1}}}},
    {"truncf", {{{Counter::Conversions, 1}}}},
    {"rintf", {{{Counter::Conversions, 1}}}},
    {"nearbyintf", {{{Counter::Conversions, 1}}}},
    {"ddiv",
     {{{Counter::DoubleFused, 7}, {Counter::DoubleMultiplies, 1}, {Counter::SingleFused, 1}}}},
    {"drcp", {{{Counter::DoubleFused, 5}}}},
    {"sqrt", {{{Counter::DoubleMultiplies, 3}, {Counter::DoubleFused, 5}}}},
    {"rsqrt", {{{Counter::DoubleMultiplies, 2}, {Counter::DoubleFused, 3}}}},
    {"exp", {{{Counter::DoubleAdds, 1}, {Counter::DoubleFused, 14}}}},
    {"log",
     {{{Counter::DoubleAdds, 8}, {Counter::DoubleMultiplies, 4}, {Counter::DoubleFused, 16}}}},
    {"sin",
     {{{Counter::DoubleMultiplies, 2}, {Counter::DoubleFused, 10}, {Counter::Conversions, 2}}}},
    {"floor", {{{Counter::Conversions, 1}}}},
    {"ceil", {{{Counter::Conversions, 1}}}},
    {"trunc", {{{Counter::Conversions, 1}}}},
    {"rint", {{{Counter::Conversions, 1}}}},
    {"nearbyint", {{{Counter::Conversions, 1}}}},
});

/// The replacement of a function under --use_fast_math.
constexpr auto approximations = std::to_array<std::array<std::string_view, 2>>({
    {"fdiv", "__fdividef"},
    {"frcp", "__frcp_approx"},
    {"sqrtf", "__frcp_approx"}, // Like it, one instruction of the special-function unit.
    {"tanhf", "__frcp_approx"},
    {"expf", "__expf"},
    {"logf", "__logf"},
    {"log2f", "__log2f"},
    {"log10f", "__log10f"},
    {"sinf", "__sinf"},
    {"cosf", "__cosf"},
    {"powf", "__powf"},
});

constexpr NamedCost uncounted{"", {{{Counter::UncountedCalls, 1}}}};

/// Names without their precision: f for float, h for half, __ for approximations.
constexpr auto functions = std::to_array<std::string_view>({
    "acos",          "acosh",         "asin",       "asinh", "atan",    "atan2",
    "atanh",         "cbrt",          "cos",        "cosh",  "cospi",   "div",
    "cyl_bessel_i0", "cyl_bessel_i1", "erf",        "erfc",  "erfcinv", "erfcx",
    "erfinv",        "exp",           "exp10",      "exp2",  "expm1",   "fdivide",
    "fmod",          "hypot",         "j0",         "j1",    "jn",      "lgamma",
    "log",           "log10",         "log1p",      "log2",  "norm",    "norm3d",
    "norm4d",        "normcdf",       "normcdfinv", "pow",   "rcbrt",   "rcp",
    "remainder",     "rhypot",        "rnorm",      "rsqrt", "sin",     "sincos",
    "sincospi",      "sinh",          "sinpi",      "sqrt",  "tan",     "tanh",
    "tanh_approx",   "tgamma",        "y0",         "y1",    "yn",
});

bool isMathematical(std::string_view function) {
    const auto isOne = [](std::string_view name) {
        return std::ranges::find(functions, name) != functions.end();
    };
    if (function.starts_with("__"))
        function.remove_prefix(2);
    if (isOne(function) ||
        (function.ends_with('f') && isOne(function.substr(0, function.size() - 1))))
        return true;
    const bool hasPrefix =
        function.starts_with('f') || function.starts_with('d') || function.starts_with('h');
    return hasPrefix && isOne(function.substr(1)); // For fdiv, drcp, hexp.
}

FunctionCost costIn(const NamedCost& cost) {
    const auto end = std::ranges::find(cost.operations, 0u, &OperationCost::count);
    return {{cost.operations.begin(), end}, cost.endsInProduct};
}

} // namespace

std::optional<FunctionCost> costOf(std::string_view function, bool fastMath) {
    const auto faster =
        std::ranges::find(approximations, function, [](const auto& pair) { return pair[0]; });
    if (fastMath && faster != approximations.end())
        function = (*faster)[1];
    for (const auto known :
         {std::span<const NamedCost>(instructions), std::span<const NamedCost>(sequences)}) {
        const auto found = std::ranges::find(known, function, &NamedCost::name);
        if (found != known.end())
            return costIn(*found);
    }
    return isMathematical(function) ? std::optional(costIn(uncounted)) : std::nullopt;
}

} // namespace kernelskill::engine
