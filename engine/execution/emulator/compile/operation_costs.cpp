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

/// One instruction each.
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

constexpr NamedCost uncounted{"", {{{Counter::UncountedCalls, 1}}}};

/// Without what tells the precision: the f of floats, the h of halves, the __ of approximations.
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
    return hasPrefix && isOne(function.substr(1)); // fdiv, drcp, hexp
}

FunctionCost costIn(const NamedCost& cost) {
    const auto end = std::ranges::find(cost.operations, 0u, &OperationCost::count);
    return {{cost.operations.begin(), end}, cost.endsInProduct};
}

} // namespace

std::optional<FunctionCost> costOf(std::string_view function) {
    const auto found = std::ranges::find(instructions, function, &NamedCost::name);
    if (found != instructions.end())
        return costIn(*found);
    return isMathematical(function) ? std::optional(costIn(uncounted)) : std::nullopt;
}

} // namespace kernelskill::engine
