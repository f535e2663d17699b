#include "engine/graph/torch/symbolic_integers.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

using Integer = std::optional<std::int64_t>; ///< nullopt: there is no such number.
using Computation = Integer (*)(std::int64_t, std::int64_t);

Integer add(std::int64_t left, std::int64_t right) {
    std::int64_t result = 0;
    return __builtin_add_overflow(left, right, &result) ? Integer() : result;
}

Integer subtract(std::int64_t left, std::int64_t right) {
    std::int64_t result = 0;
    return __builtin_sub_overflow(left, right, &result) ? Integer() : result;
}

Integer multiply(std::int64_t left, std::int64_t right) {
    std::int64_t result = 0;
    return __builtin_mul_overflow(left, right, &result) ? Integer() : result;
}

bool isDivisible(std::int64_t left, std::int64_t right) {
    return right != 0 && !(left == std::numeric_limits<std::int64_t>::min() && right == -1);
}

/// Rounded towards minus infinity, as in Python.
Integer floorDivide(std::int64_t left, std::int64_t right) {
    if (!isDivisible(left, right))
        return {};
    return left / right - (left % right != 0 && (left < 0) != (right < 0) ? 1 : 0);
}

/// The result has the sign of the divisor, as in Python.
Integer modulo(std::int64_t left, std::int64_t right) {
    if (!isDivisible(left, right))
        return {};
    const std::int64_t rest = left % right;
    return rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest;
}

Integer larger(std::int64_t left, std::int64_t right) {
    return std::max(left, right);
}

Integer smaller(std::int64_t left, std::int64_t right) {
    return std::min(left, right);
}

constexpr std::array<std::pair<std::string_view, Computation>, 7> computations{{
    {"_operator.add", add},
    {"_operator.sub", subtract},
    {"_operator.mul", multiply},
    {"_operator.floordiv", floorDivide},
    {"_operator.mod", modulo},
    {"torch.sym_max", larger},
    {"torch.sym_min", smaller},
}};

Computation computationOf(std::string_view target) {
    for (const auto& [name, computation] : computations)
        if (name == target)
            return computation;
    return nullptr;
}

Integer valueOf(const Argument& argument, const Values& values) {
    if (const auto* constant = std::get_if<std::int64_t>(&argument))
        return *constant;
    const auto* symbolic = std::get_if<SymbolicInt>(&argument);
    if (symbolic != nullptr && std::holds_alternative<std::int64_t>(*symbolic))
        return std::get<std::int64_t>(*symbolic);
    const auto* name =
        symbolic != nullptr ? std::get_if<ValueName>(symbolic) : std::get_if<ValueName>(&argument);
    const auto found = name != nullptr ? values.find(name->name) : values.end();
    if (found == values.end() || !found->second.isInt())
        return {};
    return found->second.toInt();
}

} // namespace

bool isSymbolicArithmetic(std::string_view target) {
    return computationOf(target) != nullptr;
}

Result<std::int64_t> computeSymbolic(const Node& node, const Values& values) {
    const auto unusable = std::unexpected(
        Error{ErrorKind::InvalidInput, node.target + " has no result for its operands", {}, {}});
    const Computation computation = computationOf(node.target);
    if (computation == nullptr || node.arguments.size() != 2)
        return unusable;
    const auto left = valueOf(node.arguments[0].value, values);
    const auto right = valueOf(node.arguments[1].value, values);
    const auto result = left && right ? computation(*left, *right) : Integer();
    if (!result)
        return unusable;
    return *result;
}

} // namespace kernelskill::engine::graph
