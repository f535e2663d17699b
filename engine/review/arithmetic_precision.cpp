#include "engine/review/arithmetic_precision.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelskill::engine {
namespace {

using analysis::Expr;
using analysis::ExprKind;

/// Prefixes of the functions that make 16-bit numbers without computing in them.
constexpr std::array<std::string_view, 21> conversions{"__float2half",   "__float2bfloat16",
                                                       "__double2half",  "__double2bfloat16",
                                                       "__int2half",     "__uint2half",
                                                       "__short2half",   "__ushort2half",
                                                       "__floats2half",  "__floats2bfloat16",
                                                       "__float22half2", "__float22bfloat162",
                                                       "__halves2",      "__low",
                                                       "__high",         "__ldg",
                                                       "__ldc",          "__shfl",
                                                       "make_half2",     "make_bfloat162",
                                                       "__ushort_as"};

bool isHalf(const analysis::Type& type) {
    return (type.scalar == analysis::ScalarKind::Half ||
            type.scalar == analysis::ScalarKind::BFloat16) &&
           type.pointerDepth == 0 && type.arrayExtents.empty();
}

bool isConversion(std::string_view callee) {
    return std::ranges::any_of(conversions,
                               [&](std::string_view name) { return callee.starts_with(name); });
}

bool computesInHalf(const Expr& expr) {
    if (!isHalf(expr.type))
        return false;
    switch (expr.kind) {
    case ExprKind::Binary:
        return expr.op != "=" && expr.op != ",";
    case ExprKind::Unary:
        return expr.op == "++" || expr.op == "--" || expr.op == "p++" || expr.op == "p--";
    case ExprKind::Call:
        return !isConversion(expr.name);
    default:
        return false;
    }
}

} // namespace

bool computesInFullPrecision(const analysis::KernelModel& kernel) {
    return std::ranges::none_of(kernel.templateParameters,
                                [](const auto& parameter) { return parameter.isType; }) &&
           std::ranges::none_of(kernel.body.exprs, computesInHalf);
}

} // namespace kernelskill::engine
