#include "engine/graph/torch/bound_inputs.h"

#include "engine/graph/extent_expression.h"
#include "engine/graph/reference/contiguous_tensor.h"
#include "engine/graph/reference/seeded_tensors.h"
#include "engine/graph/symbol_values.h"
#include "engine/graph/torch/tensors.h"
#include "engine/graph/torch/torch_names.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>
#include <variant>

namespace kernelskill::engine::graph {
namespace {

std::unexpected<Error> unusable(std::string what) {
    return std::unexpected(Error{ErrorKind::InvalidInput, std::move(what), {}, {}});
}

std::string textOf(c10::IntArrayRef sizes) {
    std::ostringstream text;
    text << sizes;
    return text.str();
}

std::string textOf(const std::vector<Extent>& extents) {
    std::string text = "[";
    for (const Extent& extent : extents) {
        text += text.size() > 1 ? ", " : "";
        text += extent.isDynamic() ? extent.expression : std::to_string(extent.value);
    }
    return text + "]";
}

class InputBinder {
public:
    InputBinder(const Program& program, const TorchSubject& subject, const Place& place)
        : program_(program), subject_(subject), place_(place) {}

    Result<Values> bind() {
        for (const Input& input : program_.inputs) {
            if (auto done = bindOne(input); !done)
                return std::unexpected(done.error());
        }
        if (subject_.inputs && subject_.inputs->size() != taken_)
            return unusable("the program takes " + std::to_string(taken_) +
                            " input tensors, and there are " +
                            std::to_string(subject_.inputs->size()));
        if (auto met = checkExpressions(); !met)
            return std::unexpected(met.error());
        return std::move(values_);
    }

private:
    Result<void> bindOne(const Input& input) {
        switch (input.kind) {
        case Input::Kind::User:
            return bindUser(input);
        case Input::Kind::Fixed:
            bindFixed(input, values_);
            return {};
        case Input::Kind::Parameter:
        case Input::Kind::Buffer:
        case Input::Kind::Constant:
            return bindHeld(input);
        case Input::Kind::Object:
        case Input::Kind::Token:
            break;
        }
        return {}; // Whoever reads it is refused, with its name.
    }

    Result<void> bindUser(const Input& input) {
        if (const auto number = program_.symbolicInts.find(input.value);
            number != program_.symbolicInts.end()) {
            values_.insert_or_assign(input.value, number->second.value);
            return {};
        }
        const auto type = program_.values.find(input.value);
        if (type == program_.values.end())
            return unusable("the input " + input.value + " is no tensor");
        const std::size_t position = taken_++;
        if (!subject_.inputs)
            return bindSeeded(input);
        if (position >= subject_.inputs->size())
            return {}; // bind() says how many there have to be.
        const TensorData& given = (*subject_.inputs)[position];
        if (given.type.element != type->second.element)
            return unusable("the input " + input.value + " has elements of " +
                            std::string(nameOf(given.type.element)) + " instead of " +
                            std::string(nameOf(type->second.element)));
        const auto sizes = valuesOf(given.type.sizes);
        if (const auto problem = shapeProblem(type->second, sizes); !problem.empty())
            return unusable("the input " + input.value + " " + problem);
        if (auto fits = takeSymbols(input, type->second, sizes); !fits)
            return fits;
        return place(input, given, &type->second);
    }

    /// The symbols of dynamic extents have the value that the input has there.
    Result<void> takeSymbols(const Input& input, const TensorType& type,
                             const std::vector<std::int64_t>& sizes) {
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const auto symbol = program_.symbols.find(type.sizes[i].expression);
            if (symbol == program_.symbols.end())
                continue;
            const auto& [low, high] = symbol->second;
            const auto [known, isNew] = symbols_.try_emplace(symbol->first, sizes[i]);
            if (sizes[i] < low || (high && sizes[i] > *high) || known->second != sizes[i])
                return unusable("the input " + input.value + " has the extent " +
                                std::to_string(sizes[i]) + " for " + symbol->first + ", which is " +
                                (isNew ? "outside of what the program allows"
                                       : std::to_string(known->second) + " elsewhere"));
        }
        return {};
    }

    /// Extents that follow from symbols, and relations, where inputs were given.
    Result<void> checkExpressions() {
        const auto sources = symbolSources(program_);
        if (!subject_.inputs || !sources)
            return {};
        const auto given = [&](const std::string& input, std::size_t axis) {
            return values_.at(input).toTensor().size(static_cast<std::int64_t>(axis));
        };
        for (const SymbolSource& source : *sources)
            symbols_.try_emplace(source.symbol, (given(source.input, source.axis) - source.offset) /
                                                    source.factor);
        if (const std::string problem = symbolProblem(program_, symbols_); !problem.empty())
            return unusable(problem);
        for (const Input& input : program_.inputs) {
            const auto type = program_.values.find(input.value);
            if (input.kind != Input::Kind::User || type == program_.values.end())
                continue;
            for (std::size_t i = 0; i < type->second.sizes.size(); ++i) {
                const Extent& extent = type->second.sizes[i];
                const auto wanted = evaluateExtent(extent, symbols_);
                if (wanted && given(input.value, i) != *wanted)
                    return unusable("the input " + input.value + " has the extent " +
                                    std::to_string(given(input.value, i)) + " instead of " +
                                    extent.expression + " = " + std::to_string(*wanted));
            }
        }
        return {};
    }

    Result<void> bindHeld(const Input& input) {
        const auto held = program_.tensors.find(input.target);
        if (held == program_.tensors.end())
            return unusable("the program has no tensor " + input.target);
        if (held->second.owner != nullptr)
            return place(input, held->second, nullptr);
        if (input.kind == Input::Kind::Constant)
            return unusable("the archive does not hold the constant " + input.target);
        return bindSeeded(input);
    }

    Result<void> bindSeeded(const Input& input) {
        const auto tensor = seededTensor(program_, input, subject_.seed);
        if (!tensor)
            return std::unexpected(tensor.error());
        const auto type = program_.values.find(input.value);
        return place(input, *tensor, type == program_.values.end() ? nullptr : &type->second);
    }

    /// `wanted`: whose strides the tensor gets, unless they are dynamic.
    Result<void> place(const Input& input, const TensorData& data, const TensorType* wanted) {
        auto tensor = tensorOf(data, input.target.empty() ? input.value : input.target);
        if (!tensor)
            return std::unexpected(tensor.error());
        const auto isDynamic = [](const Extent& extent) { return extent.isDynamic(); };
        if (wanted != nullptr && std::ranges::none_of(wanted->strides, isDynamic) &&
            tensor->strides() != c10::IntArrayRef(valuesOf(wanted->strides)))
            tensor =
                at::empty_strided(tensor->sizes(), valuesOf(wanted->strides), tensor->options())
                    .copy_(*tensor);
        values_.insert_or_assign(input.value,
                                 tensor->to(place_.device, typeAt(place_, tensor->scalar_type())));
        return {};
    }

    const Program& program_;
    const TorchSubject& subject_;
    const Place& place_;
    Values values_;
    std::size_t taken_ = 0; ///< The number of the subject's inputs that are bound.
    std::map<std::string, std::int64_t> symbols_;
};

} // namespace

void bindFixed(const Input& input, Values& values) {
    std::visit(
        [&](const auto& fixed) {
            using T = std::decay_t<decltype(fixed)>;
            if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> ||
                          std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
                values.insert_or_assign(input.value, c10::IValue(fixed));
        },
        input.fixed);
}

std::string shapeProblem(const TensorType& type, c10::IntArrayRef sizes) {
    bool fits = type.sizes.size() == sizes.size();
    for (std::size_t i = 0; fits && i < sizes.size(); ++i)
        fits = type.sizes[i].isDynamic() || type.sizes[i].value == sizes[i];
    return fits ? std::string()
                : "has the shape " + textOf(sizes) + " instead of " + textOf(type.sizes);
}

Result<Values> bindInputs(const Program& program, const TorchSubject& subject, const Place& place) {
    return InputBinder(program, subject, place).bind();
}

} // namespace kernelskill::engine::graph
