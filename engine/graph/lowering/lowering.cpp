#include "engine/graph/lowering/lowering.h"

#include "engine/graph/extent_expression.h"
#include "engine/graph/lowering/extent_index.h"
#include "engine/graph/operators.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine::graph {

Tensor factorOf(Lowering& in, const Tensor& tensor) {
    return convertedTensor(in.reread(tensor), computedIn(tensor.element));
}

std::vector<std::size_t> allAxes(const Tensor& tensor) {
    std::vector<std::size_t> axes(tensor.rank());
    for (std::size_t i = 0; i < axes.size(); ++i)
        axes[i] = i;
    return axes;
}

ScalarKind scalarKindOf(ElementType type) {
    switch (type) {
    case ElementType::UInt8:
        return ScalarKind::UInt8;
    case ElementType::Int8:
        return ScalarKind::Char;
    case ElementType::Int16:
        return ScalarKind::Int16;
    case ElementType::Int32:
        return ScalarKind::Int32;
    case ElementType::Int64:
        return ScalarKind::Int64;
    case ElementType::Float16:
        return ScalarKind::Half;
    case ElementType::Float32:
        return ScalarKind::Float;
    case ElementType::Float64:
        return ScalarKind::Double;
    case ElementType::Bool:
        return ScalarKind::Bool;
    case ElementType::BFloat16:
        return ScalarKind::BFloat16;
    default:
        return ScalarKind::Unknown;
    }
}

ScalarKind computedIn(ScalarKind type) {
    return type == ScalarKind::Half || type == ScalarKind::BFloat16 ? ScalarKind::Float : type;
}

void Lowering::define(const std::string& value, Tensor tensor) {
    values_.insert_or_assign(value, std::move(tensor));
}

const Tensor& Lowering::anyValue(const std::string& name) const {
    const auto known = values_.find(name);
    if (known == values_.end())
        throw NotRaised{fmt::format("{} has no value", name)};
    return known->second;
}

const Tensor& Lowering::value(const std::string& name) const {
    const Tensor& tensor = anyValue(name);
    if (tensor.element == ScalarKind::Unknown)
        throw NotRaised{
            fmt::format("{} has elements of {}", name, nameOf(graph_.values.at(name).element))};
    return tensor;
}

const TensorType& Lowering::typeOf(std::size_t result) const {
    std::size_t number = 0;
    for (const std::vector<std::string>& names : node_->results)
        for (const std::string& name : names)
            if (number++ == result)
                if (const auto type = graph_.values.find(name); type != graph_.values.end())
                    return type->second;
    throw NotRaised{fmt::format("result {} has no type", result)};
}

ScalarKind Lowering::anyResultType(std::size_t result) const {
    return scalarKindOf(typeOf(result).element);
}

ScalarKind Lowering::resultType(std::size_t result) const {
    const ScalarKind type = anyResultType(result);
    if (type == ScalarKind::Unknown)
        throw NotRaised{
            fmt::format("its result has elements of {}", nameOf(typeOf(result).element))};
    return type;
}

std::vector<Index> Lowering::resultShape(std::size_t result) const {
    std::vector<Index> shape;
    for (const Extent& extent : typeOf(result).sizes)
        shape.push_back(indexOf(extent));
    return shape;
}

Index Lowering::indexOf(const Extent& extent) const {
    if (!extent.isDynamic())
        return extent.value;
    const auto expression = parseExtent(extent.expression, node_ == nullptr ? "" : node_->name);
    if (!expression)
        throw NotRaised{expression.error().describe()};
    return graph::indexOf(*expression, graph_);
}

Index Lowering::indexOf(const SymbolicInt& number) const {
    if (const auto* constant = std::get_if<std::int64_t>(&number))
        return *constant;
    return integerValue(std::get<ValueName>(number).name);
}

void Lowering::defineInteger(const std::string& value, Index index) {
    integers_.insert_or_assign(value, std::move(index));
}

Index Lowering::integerValue(const std::string& name) const {
    if (const auto computed = integers_.find(name); computed != integers_.end())
        return computed->second;
    const auto stated = graph_.symbolicInts.find(name);
    if (stated == graph_.symbolicInts.end() ||
        (stated->second.isDynamic() && stated->second.value < 0))
        throw NotRaised{fmt::format("the number {} is known only when the program runs", name)};
    return indexOf(stated->second);
}

NotRaised Lowering::unexpected(std::string_view parameter) const {
    return {fmt::format("the argument '{}' of {} is of a kind that is not raised", parameter,
                        node_->target)};
}

Argument Lowering::argument(std::string_view parameter) const {
    auto given = argumentOf(*node_, parameter);
    if (!given)
        throw NotRaised{fmt::format("{} lacks the argument '{}'", node_->target, parameter)};
    return *std::move(given);
}

bool Lowering::isNone(std::string_view parameter) const {
    return std::holds_alternative<std::monostate>(argument(parameter));
}

Tensor Lowering::tensor(std::string_view parameter) const {
    const Argument given = argument(parameter);
    const auto* name = std::get_if<ValueName>(&given);
    if (name == nullptr)
        throw unexpected(parameter);
    return value(name->name);
}

std::optional<Tensor> Lowering::optionalTensor(std::string_view parameter) const {
    return isNone(parameter) ? std::nullopt : std::optional(tensor(parameter));
}

std::vector<Tensor> Lowering::tensors(std::string_view parameter) const {
    const Argument given = argument(parameter);
    std::vector<Tensor> all;
    if (const auto* names = std::get_if<std::vector<ValueName>>(&given)) {
        for (const ValueName& name : *names)
            all.push_back(value(name.name));
        return all;
    }
    throw unexpected(parameter);
}

std::vector<std::optional<Tensor>> Lowering::optionalTensors(std::string_view parameter) const {
    const Argument given = argument(parameter);
    std::vector<std::optional<Tensor>> all;
    if (const auto* names = std::get_if<std::vector<std::optional<ValueName>>>(&given)) {
        for (const auto& name : *names)
            all.push_back(name ? std::optional(value(name->name)) : std::nullopt);
        return all;
    }
    for (Tensor& tensor : tensors(parameter))
        all.emplace_back(std::move(tensor));
    return all;
}

Tensor Lowering::operand(std::string_view parameter) const {
    const Argument given = argument(parameter);
    if (const auto* name = std::get_if<ValueName>(&given))
        return value(name->name);
    if (const auto* number = std::get_if<std::int64_t>(&given))
        return analysis::raise::constantTensor(ScalarKind::Int64, {}, static_cast<double>(*number));
    if (const auto* number = std::get_if<double>(&given))
        return analysis::raise::constantTensor(ScalarKind::Double, {}, *number);
    if (const auto* truth = std::get_if<bool>(&given))
        return analysis::raise::constantTensor(ScalarKind::Bool, {}, *truth ? 1 : 0);
    if (const auto* number = std::get_if<SymbolicInt>(&given))
        return analysis::raise::tensorOf(
            ScalarKind::Int64, {}, [value = indexOf(*number)](const std::vector<Index>&) {
                return analysis::raise::positionValue(ScalarKind::Int64, value);
            });
    throw unexpected(parameter);
}

std::int64_t Lowering::integer(std::string_view parameter) const {
    const auto value = size(parameter).constant();
    if (!value)
        throw NotRaised{fmt::format("the argument '{}' of {} is known only when the program runs",
                                    parameter, node_->target)};
    return *value;
}

double Lowering::real(std::string_view parameter) const {
    const Argument given = argument(parameter);
    if (const auto* number = std::get_if<double>(&given))
        return *number;
    return static_cast<double>(integer(parameter));
}

bool Lowering::truth(std::string_view parameter) const {
    const Argument given = argument(parameter);
    if (const auto* truth = std::get_if<bool>(&given))
        return *truth;
    throw unexpected(parameter);
}

std::string Lowering::text(std::string_view parameter) const {
    const Argument given = argument(parameter);
    if (const auto* text = std::get_if<std::string>(&given))
        return *text;
    throw unexpected(parameter);
}

Index Lowering::size(std::string_view parameter) const {
    const Argument given = argument(parameter);
    if (const auto* number = std::get_if<std::int64_t>(&given))
        return *number;
    if (const auto* number = std::get_if<SymbolicInt>(&given))
        return indexOf(*number);
    throw unexpected(parameter);
}

std::vector<Index> Lowering::sizes(std::string_view parameter) const {
    const Argument given = argument(parameter);
    std::vector<Index> all;
    if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&given)) {
        all.assign(numbers->begin(), numbers->end());
    } else if (const auto* symbols = std::get_if<std::vector<SymbolicInt>>(&given)) {
        for (const SymbolicInt& number : *symbols)
            all.push_back(indexOf(number));
    } else {
        all.push_back(size(parameter));
    }
    return all;
}

std::vector<std::int64_t> Lowering::integers(std::string_view parameter) const {
    std::vector<std::int64_t> all;
    for (const Index& size : sizes(parameter)) {
        const auto value = size.constant();
        if (!value)
            throw NotRaised{fmt::format("the argument '{}' of {} is known only when the program "
                                        "runs",
                                        parameter, node_->target)};
        all.push_back(*value);
    }
    return all;
}

std::vector<std::int64_t> Lowering::perAxis(std::string_view parameter, std::size_t count,
                                            const std::vector<std::int64_t>& none) const {
    std::vector<std::int64_t> given = integers(parameter);
    if (given.empty())
        given = none;
    if (given.size() == 1)
        given.resize(count, given.front());
    if (given.size() != count)
        throw NotRaised{fmt::format("the argument '{}' of {} has {} numbers for {} axes", parameter,
                                    node_->target, given.size(), count)};
    return given;
}

std::vector<std::size_t> Lowering::axes(std::string_view parameter, std::size_t rank) const {
    std::vector<std::size_t> result;
    if (!isNone(parameter))
        for (const std::int64_t axis : integers(parameter))
            result.push_back(analysis::raise::axisNumber(axis, rank));
    if (result.empty())
        for (std::size_t i = 0; i < rank; ++i)
            result.push_back(i);
    std::ranges::sort(result);
    return result;
}

Tensor Lowering::reread(const Tensor& tensor, std::size_t cost) {
    return builder_.costOf(tensor) > cost ? builder_.kept(tensor, node_->name + "_input") : tensor;
}

} // namespace kernelskill::engine::graph
