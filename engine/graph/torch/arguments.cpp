#include "engine/graph/torch/arguments.h"

#include "engine/graph/torch/torch_names.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

/// Turns the arguments of one node into values of the types that a schema names.
class ArgumentReader {
public:
    ArgumentReader(const Values& values, const Place& place, bool readsTensors)
        : values_(values), place_(place), readsTensors_(readsTensors) {}

    /// `length`: of a list that the schema lets be given as one number.
    [[nodiscard]] Result<c10::IValue> read(const Argument& argument, const c10::TypePtr& type,
                                           std::int64_t length = 1) const {
        if (type->kind() == c10::TypeKind::OptionalType) {
            if (std::holds_alternative<std::monostate>(argument))
                return c10::IValue();
            return read(argument, type->castRaw<c10::OptionalType>()->getElementType(), length);
        }
        if (type->kind() == c10::TypeKind::ListType)
            return readList(argument, type->castRaw<c10::ListType>()->getElementType(), length);
        return std::visit(
            [&](const auto& given) -> Result<c10::IValue> { return readOne(given, type); },
            argument);
    }

private:
    [[nodiscard]] static std::unexpected<Error> misfit(const c10::TypePtr& type) {
        return std::unexpected(
            Error{ErrorKind::Unsupported, "does not fit its type " + type->str(), {}, {}});
    }

    [[nodiscard]] Result<c10::IValue> valueOf(const ValueName& name) const {
        const auto found = values_.find(name.name);
        if (found == values_.end())
            return std::unexpected(Error{ErrorKind::InvalidInput,
                                         "reads " + name.name + ", which has no value",
                                         {},
                                         "export the program again"});
        return found->second;
    }

    /// A number in the place of a tensor, which does not decide the result's type, as in Python.
    [[nodiscard]] static c10::IValue wrapped(const c10::Scalar& number) {
        auto tensor = c10::scalar_to_tensor(number);
        tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
        return tensor;
    }

    [[nodiscard]] static Result<c10::IValue> number(const c10::Scalar& value,
                                                    const c10::TypePtr& type) {
        switch (type->kind()) {
        case c10::TypeKind::TensorType:
            return wrapped(value);
        case c10::TypeKind::NumberType:
            return c10::IValue(value);
        case c10::TypeKind::FloatType:
        case c10::TypeKind::SymFloatType:
            if (!value.isComplex())
                return c10::IValue(value.toDouble());
            return misfit(type);
        case c10::TypeKind::IntType:
        case c10::TypeKind::SymIntType:
            if (value.isIntegral(false))
                return c10::IValue(value.toLong());
            return misfit(type);
        case c10::TypeKind::BoolType:
            if (value.isBoolean())
                return c10::IValue(value.toBool());
            return misfit(type);
        default:
            return misfit(type);
        }
    }

    template <typename T>
    [[nodiscard]] Result<c10::IValue> readOne(const T& given, const c10::TypePtr& type) const {
        if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> ||
                      std::is_same_v<T, bool>) {
            return number(c10::Scalar(given), type);
        } else if constexpr (std::is_same_v<T, ValueName>) {
            return named(given, type);
        } else if constexpr (std::is_same_v<T, SymbolicInt>) {
            if (const auto* constant = std::get_if<std::int64_t>(&given))
                return number(c10::Scalar(*constant), type);
            return named(std::get<ValueName>(given), type);
        } else if constexpr (std::is_same_v<T, std::string>) {
            if (type->kind() == c10::TypeKind::StringType)
                return c10::IValue(given);
        } else if constexpr (std::is_same_v<T, EnumValue>) {
            if (type->kind() == c10::TypeKind::IntType)
                return enumValue(given);
        } else if constexpr (std::is_same_v<T, Device>) {
            if (type->kind() == c10::TypeKind::DeviceObjType)
                return c10::IValue(place_.device);
        }
        return misfit(type);
    }

    [[nodiscard]] Result<c10::IValue> named(const ValueName& name, const c10::TypePtr& type) const {
        auto value = valueOf(name);
        if (!value || value->isTensor())
            return value && type->kind() != c10::TypeKind::TensorType ? misfit(type)
                                                                      : std::move(value);
        if (value->isInt())
            return number(c10::Scalar(value->toInt()), type);
        return misfit(type);
    }

    [[nodiscard]] Result<c10::IValue> enumValue(const EnumValue& given) const {
        auto number = torchNumber(given);
        if (!number)
            return std::unexpected(number.error());
        // A tensor that is made from nothing is converted afterwards, so that random numbers are
        // the same in all types.
        if (given.kind == EnumValue::Kind::ScalarType && readsTensors_)
            return static_cast<std::int64_t>(typeAt(place_, static_cast<at::ScalarType>(*number)));
        return *number;
    }

    [[nodiscard]] Result<c10::IValue>
    readList(const Argument& argument, const c10::TypePtr& element, std::int64_t length) const {
        const bool takesIntegers = element->kind() == c10::TypeKind::SymIntType;
        c10::impl::GenericList list(takesIntegers ? c10::TypePtr(c10::IntType::get()) : element);
        auto problem = std::visit(
            [&](const auto& given) { return append(list, given, element, length); }, argument);
        if (!problem)
            return std::unexpected(problem.error());
        return c10::IValue(std::move(list));
    }

    template <typename T>
    [[nodiscard]] Result<void> append(c10::impl::GenericList& list, const T& given,
                                      const c10::TypePtr& element, std::int64_t length) const {
        if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> ||
                      std::is_same_v<T, bool> || std::is_same_v<T, SymbolicInt>) {
            for (std::int64_t i = 0; i < length; ++i)
                if (auto done = appendOne(list, given, element); !done)
                    return done;
            return {};
        } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
            for (const bool one : given)
                if (auto done = appendOne(list, one, element); !done)
                    return done;
            return {};
        } else if constexpr (requires { given.begin(); } && !std::is_same_v<T, std::string>) {
            for (const auto& one : given)
                if (auto done = appendOne(list, one, element); !done)
                    return done;
            return {};
        }
        return misfit(c10::ListType::create(element));
    }

    template <typename T>
    [[nodiscard]] Result<void> appendOne(c10::impl::GenericList& list, const T& given,
                                         const c10::TypePtr& element) const {
        Argument argument;
        if constexpr (std::is_same_v<T, std::optional<ValueName>>) {
            if (given)
                argument = *given;
        } else {
            argument = given;
        }
        auto value = read(argument, element);
        if (!value)
            return std::unexpected(value.error());
        list.push_back(std::move(*value));
        return {};
    }

    const Values& values_;
    const Place& place_;
    bool readsTensors_;
};

bool isTensor(const Values& values, const Argument& argument) {
    if (const auto* name = std::get_if<ValueName>(&argument)) {
        const auto found = values.find(name->name);
        return found != values.end() && found->second.isTensor();
    }
    if (const auto* names = std::get_if<std::vector<ValueName>>(&argument))
        return !names->empty();
    return std::holds_alternative<std::vector<std::optional<ValueName>>>(argument);
}

Error ofArgument(const Node& node, const std::string& parameter, Error error) {
    error.what = "the argument " + parameter + " of " + node.target + " " + error.what;
    return error;
}

} // namespace

Result<torch::jit::Stack> stackFor(const Node& node, const c10::FunctionSchema& schema,
                                   const Values& values, const Place& place) {
    const bool readsTensors =
        std::ranges::any_of(node.arguments, [&](const NamedArgument& argument) {
            return isTensor(values, argument.value);
        });
    const ArgumentReader reader(values, place, readsTensors);
    torch::jit::Stack stack;
    std::size_t used = 0;
    for (const c10::Argument& parameter : schema.arguments()) {
        const auto given =
            std::ranges::find(node.arguments, parameter.name(), &NamedArgument::name);
        if (given == node.arguments.end()) {
            if (!parameter.default_value())
                return std::unexpected(ofArgument(
                    node, parameter.name(),
                    {ErrorKind::InvalidInput, "is missing", {}, "export the program again"}));
            stack.push_back(*parameter.default_value());
            continue;
        }
        ++used;
        auto value = reader.read(given->value, parameter.type(), parameter.N().value_or(1));
        if (!value)
            return std::unexpected(ofArgument(node, parameter.name(), value.error()));
        stack.push_back(std::move(*value));
    }
    if (used == node.arguments.size())
        return stack;
    for (const NamedArgument& argument : node.arguments)
        if (!schema.argumentIndexWithName(argument.name))
            return std::unexpected(ofArgument(
                node, "'" + argument.name + "'",
                {ErrorKind::Unsupported, "is not known to LibTorch " + torchVersion(), {}, {}}));
    return std::unexpected(
        Error{ErrorKind::InvalidInput, node.target + " has one argument twice", {}, {}});
}

} // namespace kernelskill::engine::graph
