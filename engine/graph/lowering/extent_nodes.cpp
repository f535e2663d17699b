#include "engine/graph/lowering/extent_nodes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace kernelskill::engine::graph {

namespace {

Index add(const Index& left, const Index& right) {
    return left + right;
}
Index subtract(const Index& left, const Index& right) {
    return left - right;
}
Index multiply(const Index& left, const Index& right) {
    return left * right;
}

/// Quotients are rounded down, as indices are; their divisors have to be positive.
void requirePositive(const Index& divisor) {
    const auto low = divisor.bounds().low;
    if (!low || *low < 1)
        throw NotRaised{"an extent is divided by what may be 0 or negative"};
}
Index floorDivide(const Index& left, const Index& right) {
    requirePositive(right);
    return quotient(left, right);
}
Index modulo(const Index& left, const Index& right) {
    requirePositive(right);
    return remainder(left, right);
}

struct Arithmetic {
    std::string_view target;
    Index (*compute)(const Index& left, const Index& right);
};
constexpr std::array arithmetic{
    Arithmetic{"_operator.add", add},      Arithmetic{"_operator.sub", subtract},
    Arithmetic{"_operator.mul", multiply}, Arithmetic{"_operator.floordiv", floorDivide},
    Arithmetic{"_operator.mod", modulo},
};

/// nullopt if an operand is no integer.
std::optional<Index> operandOf(Lowering& in, const NamedArgument& argument) {
    if (const auto* number = std::get_if<std::int64_t>(&argument.value))
        return *number;
    const auto* number = std::get_if<SymbolicInt>(&argument.value);
    if (number == nullptr)
        return std::nullopt;
    const auto* name = std::get_if<ValueName>(number);
    return name != nullptr ? in.integerValue(name->name) : Index(std::get<std::int64_t>(*number));
}

/// The value by the node's operands; nullopt for an operator that is not computed here.
std::optional<Index> computed(Lowering& in) {
    const std::vector<NamedArgument>& given = in.node().arguments;
    if (in.node().target == "aten.sym_size.int" && given.size() == 2) {
        const auto* name = std::get_if<ValueName>(&given[0].value);
        const auto* axis = std::get_if<std::int64_t>(&given[1].value);
        if (name == nullptr || axis == nullptr)
            return std::nullopt;
        const Tensor& tensor = in.anyValue(name->name);
        return tensor.shape.at(analysis::raise::axisNumber(*axis, tensor.rank()));
    }
    const auto* const known =
        std::ranges::find(arithmetic, std::string_view(in.node().target), &Arithmetic::target);
    if (known == arithmetic.end() || given.size() != 2)
        return std::nullopt;
    const auto left = operandOf(in, given[0]);
    const auto right = operandOf(in, given[1]);
    if (!left || !right)
        return std::nullopt;
    return known->compute(*left, *right);
}

} // namespace

void raiseExtents(Lowering& in, const Program& graph) {
    for (const std::vector<std::string>& names : in.node().results)
        for (const std::string& name : names) {
            if (!graph.symbolicInts.contains(name))
                continue;
            const auto value = computed(in);
            in.defineInteger(name, value ? *value : in.integerValue(name));
        }
}

} // namespace kernelskill::engine::graph
