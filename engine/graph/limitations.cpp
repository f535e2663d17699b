#include "engine/graph/limitations.h"

#include "engine/graph/argument_json.h"
#include "engine/graph/operators.h"
#include "engine/graph/program_check.h"
#include "engine/graph/type_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

using LimitationKind = Limitation::Kind;

/// "add_" of "aten.add_.Tensor".
std::string_view operatorName(std::string_view target) {
    const std::size_t begin = target.find('.') + 1;
    return target.substr(begin, target.find('.', begin) - begin);
}

/// Whether the name ends in one underscore, ATen's convention; `__and__` is not in place.
bool isInPlace(const Node& node) {
    const std::string_view name = operatorName(node.target);
    return node.target.starts_with("aten.") && name.ends_with('_') && !name.ends_with("__");
}

class LimitationFinder {
public:
    explicit LimitationFinder(const Program& program) : program_(program) {
        for (const Input& input : program.inputs)
            inputs_.emplace(input.value, &input);
        for (const Node& node : program.nodes)
            for (const auto& result : node.results)
                for (const std::string& name : result)
                    makers_.emplace(name, &node);
    }

    std::vector<Limitation> find() {
        for (const Input& input : program_.inputs)
            if (input.kind == Input::Kind::Object || input.kind == Input::Kind::Token)
                add(LimitationKind::Object, nullptr,
                    fmt::format("the input '{}' is no tensor but {}", input.value,
                                input.kind == Input::Kind::Token ? "a token of an effect"
                                                                 : "an object"));
        for (const Input& input : program_.inputs)
            findDataDependent(nullptr, input.value);
        for (const Node& node : program_.nodes)
            findIn(node);
        for (const Output& output : program_.outputs)
            findIn(output);
        for (const std::string& note : program_.notes)
            add(LimitationKind::LeftOut, nullptr, note);
        return std::move(found_);
    }

private:
    void findIn(const Node& node) {
        if (hasSubgraph(node)) {
            add(LimitationKind::ControlFlow, &node,
                fmt::format("{} runs subgraphs: {}", describe(node), otherArguments(node)));
        } else if (isInPlace(node)) {
            add(LimitationKind::Mutation, &node,
                fmt::format("{} mutates {}", describe(node), mutated(node)));
        } else if (isOfExtents(node.target)) {
            findUnreadCondition(node);
        } else if (findOperator(node.target) == nullptr) {
            add(LimitationKind::UnknownOperator, &node,
                fmt::format("{} calls an operator that is not known", describe(node)));
        } else if (const std::string arguments = otherArguments(node); !arguments.empty()) {
            add(LimitationKind::UnknownArgument, &node,
                fmt::format("{} has arguments of another kind: {}", describe(node), arguments));
        }
        for (const auto& result : node.results)
            for (const std::string& name : result)
                findDataDependent(&node, name);
    }

    void findIn(const Output& output) {
        const auto maker = makers_.find(output.value);
        const Node* const node = maker == makers_.end() ? nullptr : maker->second;
        const std::string from =
            node == nullptr ? fmt::format("the input '{}'", output.value) : describe(*node);
        using enum Output::Kind;
        switch (output.kind) {
        case User:
            return;
        case BufferMutation:
        case ParameterMutation:
        case InputMutation:
            add(LimitationKind::Mutation, node,
                fmt::format("{} gives a value that is written to the {} '{}'", from,
                            output.kind == BufferMutation      ? "buffer"
                            : output.kind == ParameterMutation ? "parameter"
                                                               : "input",
                            output.target));
            return;
        case Loss:
        case Gradient:
            add(LimitationKind::Training, node,
                fmt::format("{} gives a {}: the program is one step of a training", from,
                            output.kind == Loss ? "loss" : "gradient"));
            return;
        case Token:
            add(LimitationKind::Object, node, fmt::format("{} gives a token of an effect", from));
            return;
        }
    }

    void findUnreadCondition(const Node& node) {
        const bool isRead = std::ranges::find(program_.relations, node.name,
                                              &ExtentRelation::node) != program_.relations.end();
        if (node.target == assertedTruth && !isRead)
            add(LimitationKind::UnknownArgument, &node,
                fmt::format("{} asserts a condition that is none on extents", describe(node)));
    }

    void findDataDependent(const Node* node, const std::string& name) {
        const auto type = program_.values.find(name);
        if (type == program_.values.end())
            return;
        for (const Extent& size : type->second.sizes)
            if (size.isDynamic() && size.value < 0) {
                add(LimitationKind::DataDependent, node,
                    fmt::format("{} has an extent that depends on data: {}",
                                node == nullptr ? fmt::format("the input '{}'", name)
                                                : describe(*node),
                                textOf(type->second)));
                return;
            }
    }

    static bool hasSubgraph(const Node& node) {
        return node.target.starts_with("higher_order.") ||
               std::ranges::any_of(node.arguments, [](const NamedArgument& argument) {
                   const auto* other = std::get_if<OtherArgument>(&argument.value);
                   return other != nullptr && other->kind == "as_graph";
               });
    }

    static std::string otherArguments(const Node& node) {
        std::string text;
        for (const NamedArgument& argument : node.arguments)
            if (std::holds_alternative<OtherArgument>(argument.value))
                text += (text.empty() ? "" : ", ") + textOf(argument.value);
        return text;
    }

    /// "the buffer 'seen'"
    std::string mutated(const Node& node) const {
        const std::vector<std::string> names = node.arguments.empty()
                                                   ? std::vector<std::string>()
                                                   : valuesIn(node.arguments.front().value);
        if (names.empty())
            return "its first argument";
        const auto input = inputs_.find(names.front());
        if (input == inputs_.end())
            return fmt::format("'{}'", names.front());
        using enum Input::Kind;
        switch (input->second->kind) {
        case Buffer:
            return fmt::format("the buffer '{}'", input->second->target);
        case Parameter:
            return fmt::format("the parameter '{}'", input->second->target);
        case Constant:
            return fmt::format("the constant '{}'", input->second->target);
        case User:
        case Fixed:
        case Object:
        case Token:
            break;
        }
        return fmt::format("the input '{}'", names.front());
    }

    void add(LimitationKind kind, const Node* node, std::string sentence) {
        Limitation limitation{kind, {}, {}, {}, std::move(sentence)};
        if (node != nullptr) {
            limitation.node = node->name;
            limitation.target = node->target;
            limitation.module = node->module;
        }
        found_.push_back(std::move(limitation));
    }

    const Program& program_;
    std::map<std::string_view, const Input*> inputs_;
    std::map<std::string_view, const Node*> makers_;
    std::vector<Limitation> found_;
};

} // namespace

std::vector<Limitation> limitations(const Program& program) {
    return LimitationFinder(program).find();
}

std::string_view nameOf(Limitation::Kind kind) {
    switch (kind) {
    case LimitationKind::ControlFlow:
        return "control-flow";
    case LimitationKind::Mutation:
        return "mutation";
    case LimitationKind::UnknownOperator:
        return "unknown-operator";
    case LimitationKind::UnknownArgument:
        return "unknown-argument";
    case LimitationKind::DataDependent:
        return "data-dependent";
    case LimitationKind::Training:
        return "training";
    case LimitationKind::Object:
        return "object";
    case LimitationKind::LeftOut:
        return "left-out";
    }
    return {};
}

} // namespace kernelskill::engine::graph
