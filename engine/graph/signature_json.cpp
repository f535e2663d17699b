#include "engine/graph/signature_json.h"

#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/graph/argument_json.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelskill::engine::graph {

using nlohmann::json;

namespace {

/// A spec with an argument of the form {"name": …} and the name of a tensor.
template <typename Kind>
struct NamedSpec {
    std::string_view name;
    Kind kind;
    const char* target; ///< The member with the tensor's name; null: there is none.
};
constexpr std::array inputSpecs = {
    NamedSpec{"parameter", Input::Kind::Parameter, "parameter_name"},
    NamedSpec{"buffer", Input::Kind::Buffer, "buffer_name"},
    NamedSpec{"tensor_constant", Input::Kind::Constant, "tensor_constant_name"},
    NamedSpec{"custom_obj", Input::Kind::Object, "custom_obj_name"},
    NamedSpec{"token", Input::Kind::Token, static_cast<const char*>(nullptr)},
};
constexpr std::array outputSpecs = {
    NamedSpec{"buffer_mutation", Output::Kind::BufferMutation, "buffer_name"},
    NamedSpec{"parameter_mutation", Output::Kind::ParameterMutation, "parameter_name"},
    NamedSpec{"user_input_mutation", Output::Kind::InputMutation, "user_input_name"},
    NamedSpec{"gradient_to_parameter", Output::Kind::Gradient, "parameter_name"},
    NamedSpec{"gradient_to_user_input", Output::Kind::Gradient, "user_input_name"},
    NamedSpec{"loss_output", Output::Kind::Loss, static_cast<const char*>(nullptr)},
    NamedSpec{"token", Output::Kind::Token, static_cast<const char*>(nullptr)},
};

template <typename Spec, typename Kind>
Result<Spec> readNamed(const json& value, const NamedSpec<Kind>& named, const std::string& where) {
    Spec spec;
    spec.kind = named.kind;
    KERNELSKILL_TRY(const json* const argument, requiredObject(value, "arg", where));
    KERNELSKILL_TRY(spec.value, requiredText(*argument, "name", where));
    if (named.target != nullptr) {
        KERNELSKILL_TRY(spec.target, requiredText(value, named.target, where));
    }
    return spec;
}

/// The name that the argument of a user's input or output is; else the argument is fixed.
template <typename Spec>
Result<Spec> readUser(const json& value, const std::string& where) {
    Spec spec;
    KERNELSKILL_TRY(const json* const given, requiredObject(value, "arg", where));
    KERNELSKILL_TRY(Argument argument, readArgument(*given, where));
    const std::vector<std::string> names = valuesIn(argument);
    if (names.size() > 1)
        return malformed("it is more than one value", where);
    if (names.size() == 1)
        spec.value = names.front();
    else
        spec.fixed = std::move(argument);
    return spec;
}

} // namespace

Result<Input> readInput(const json& value, const std::string& where) {
    KERNELSKILL_TRY(const UnionMember spec, unionOf(value, where));
    if (spec.kind == "user_input") {
        KERNELSKILL_TRY(Input input, readUser<Input>(*spec.value, where));
        if (input.value.empty())
            input.kind = Input::Kind::Fixed;
        return input;
    }
    if (spec.kind == "constant_input") {
        Input input;
        input.kind = Input::Kind::Fixed;
        KERNELSKILL_TRY(input.value, requiredText(*spec.value, "name", where));
        KERNELSKILL_TRY(const json* const fixed, requiredObject(*spec.value, "value", where));
        KERNELSKILL_TRY(input.fixed, readArgument(*fixed, where));
        return input;
    }
    const auto* const named =
        std::ranges::find(inputSpecs, std::string_view(spec.kind), &NamedSpec<Input::Kind>::name);
    if (named == inputSpecs.end())
        return malformed(fmt::format("it is '{}', which is not known", spec.kind), where);
    return readNamed<Input>(*spec.value, *named, where);
}

Result<Output> readOutput(const json& value, const std::string& where) {
    KERNELSKILL_TRY(const UnionMember spec, unionOf(value, where));
    if (spec.kind == "user_output")
        return readUser<Output>(*spec.value, where);
    const auto* const named =
        std::ranges::find(outputSpecs, std::string_view(spec.kind), &NamedSpec<Output::Kind>::name);
    if (named == outputSpecs.end())
        return malformed(fmt::format("it is '{}', which is not known", spec.kind), where);
    return readNamed<Output>(*spec.value, *named, where);
}

} // namespace kernelskill::engine::graph
