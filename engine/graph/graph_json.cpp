#include "engine/graph/graph_json.h"

#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/graph/argument_json.h"
#include "engine/graph/extent_expression.h"
#include "engine/graph/extent_relation.h"
#include "engine/graph/json_text.h"
#include "engine/graph/operators.h"
#include "engine/graph/program_check.h"
#include "engine/graph/signature_json.h"
#include "engine/graph/tensor_json.h"

#include <spdlog/fmt/fmt.h>

#include <limits>
#include <map>
#include <utility>

namespace kernelskill::engine::graph {

using nlohmann::json;

namespace {

constexpr int knownSchema = 8;

std::string partOf(const std::string& where, const std::string& part) {
    return where + ", " + part;
}

/// The path of the innermost module of "key,path,type;key,path,type".
std::string moduleOf(const json& node) {
    const json* const metadata = member(node, "metadata");
    const json* const stack = metadata == nullptr ? nullptr : member(*metadata, "nn_module_stack");
    if (stack == nullptr || !stack->is_string())
        return {};
    const auto& text = stack->get_ref<const std::string&>();
    const std::size_t begin = text.rfind(';') + 1; // 0 if there is one entry
    const std::size_t path = text.find(',', begin);
    if (path == std::string::npos)
        return {};
    return text.substr(path + 1, text.find(',', path + 1) - path - 1);
}

/// "aten.linear.default" of "torch.ops.aten.linear.default".
std::string targetOf(const std::string& target) {
    constexpr std::string_view prefix = "torch.ops.";
    return target.starts_with(prefix) ? target.substr(prefix.size()) : target;
}

class GraphReader {
public:
    explicit GraphReader(std::string where) : where_(std::move(where)) {}

    Result<Program> read(std::string_view text) {
        KERNELSKILL_TRY(const json document, parseJson(text, where_));
        KERNELSKILL_CHECK(readVersion(document));
        KERNELSKILL_TRY(const json* const module, requiredObject(document, "graph_module", where_));
        KERNELSKILL_TRY(const json* const graph, requiredObject(*module, "graph", where_));
        KERNELSKILL_CHECK(readSymbols(document));
        noteGuards(document);
        KERNELSKILL_CHECK(readValues(*graph));
        KERNELSKILL_TRY(const json* const signature, requiredObject(*module, "signature", where_));
        KERNELSKILL_CHECK(readInputs(*signature));
        KERNELSKILL_TRY(const json* const nodes, requiredArray(*graph, "nodes", where_));
        for (const json& node : *nodes)
            KERNELSKILL_CHECK(readNode(node));
        KERNELSKILL_CHECK(readOutputs(*signature));
        readAsserted();
        boundSymbols();
        KERNELSKILL_CHECK(checkProgram(program_, where_));
        return std::move(program_);
    }

private:
    Result<void> readVersion(const json& document) {
        KERNELSKILL_TRY(const json* const version,
                        requiredObject(document, "schema_version", where_));
        KERNELSKILL_TRY(const std::int64_t major, requiredInteger(*version, "major", where_));
        KERNELSKILL_TRY(const std::int64_t minor, requiredInteger(*version, "minor", where_));
        if (const json* const torch = member(document, "torch_version")) {
            KERNELSKILL_TRY(program_.torchVersion, textOf(*torch, where_));
        }
        if (major != knownSchema || minor < 0 || minor > std::numeric_limits<int>::max())
            return std::unexpected(
                Error{ErrorKind::Unsupported,
                      fmt::format("the program is of version {}.{} of PyTorch's schema{}; version "
                                  "{} is read",
                                  major, minor,
                                  program_.torchVersion.empty()
                                      ? ""
                                      : fmt::format(" (torch {})", program_.torchVersion),
                                  knownSchema),
                      where_, "export it with torch 2.6 to 2.11"});
        program_.schemaMajor = static_cast<int>(major);
        program_.schemaMinor = static_cast<int>(minor);
        return {};
    }

    Result<void> readSymbols(const json& document) {
        const json* const ranges = member(document, "range_constraints");
        if (ranges == nullptr)
            return {};
        if (!ranges->is_object())
            return malformed("'range_constraints' is no object", where_);
        for (const auto& [name, range] : ranges->items()) {
            const std::string where = partOf(where_, fmt::format("symbol '{}'", name));
            SymbolRange read;
            read.low = std::numeric_limits<std::int64_t>::min();
            if (const json* const low = member(range, "min_val")) {
                KERNELSKILL_TRY(read.low, integerOf(*low, where));
            }
            if (const json* const high = member(range, "max_val")) {
                KERNELSKILL_TRY(read.high, integerOf(*high, where));
                if (*read.high < read.low)
                    return malformed(
                        fmt::format("its range {} ... {} is empty", read.low, *read.high), where);
            }
            bound(name, read);
        }
        return {};
    }

    /// Conditions in Python, which torch checks before a call.
    void noteGuards(const json& document) {
        const json* const guards = member(document, "guards_code");
        if (guards == nullptr || !guards->is_array())
            return;
        for (const json& guard : *guards)
            if (guard.is_string())
                program_.notes.push_back(fmt::format("the condition '{}' is not checked",
                                                     guard.get_ref<const std::string&>()));
    }

    /// torch states ranges of symbols, and of expressions that are an extent: "s0 + 1".
    void bound(const std::string& name, const SymbolRange& range) {
        const auto expression = parseExtent(name, where_);
        if (!expression) {
            program_.notes.push_back(
                fmt::format("the range of '{}' was not read: {}", name, expression.error().what));
            return;
        }
        if (expression->kind == ExtentExpression::Kind::Symbol) {
            ranges_[expression->symbol] = range;
            return;
        }
        using enum ExtentRelation::Kind;
        const std::string text = textOf(*expression);
        if (range.low > 0)
            program_.relations.push_back({AtMost, std::to_string(range.low), text, {}});
        if (range.high)
            program_.relations.push_back({AtMost, text, std::to_string(*range.high), {}});
    }

    /// Symbols that no extent has, although their range is stated, are none of the program's.
    void boundSymbols() {
        for (auto& [symbol, range] : program_.symbols)
            if (const auto known = ranges_.find(symbol); known != ranges_.end())
                range = known->second;
    }

    /// The conditions on extents that nodes assert.
    void readAsserted() {
        for (const Node& node : program_.nodes) {
            if (node.target != assertedTruth || node.arguments.empty())
                continue;
            for (const std::string& name : valuesIn(node.arguments.front().value)) {
                const auto text = truths_.find(name);
                auto relations =
                    text == truths_.end() ? std::nullopt : parseRelations(text->second);
                for (ExtentRelation& relation :
                     relations ? *relations : std::vector<ExtentRelation>{}) {
                    relation.node = node.name;
                    program_.relations.push_back(std::move(relation));
                }
            }
        }
    }

    Result<void> readValues(const json& graph) {
        KERNELSKILL_TRY(const json* const tensors, requiredObject(graph, "tensor_values", where_));
        for (const auto& [name, type] : tensors->items()) {
            KERNELSKILL_TRY(program_.values[name],
                            readTensorType(type, partOf(where_, fmt::format("value '{}'", name)),
                                           program_.symbols));
        }
        if (const json* const integers = member(graph, "sym_int_values"))
            for (const auto& [name, value] : integers->items()) {
                KERNELSKILL_TRY(program_.symbolicInts[name],
                                readExtent(value, partOf(where_, fmt::format("value '{}'", name)),
                                           program_.symbols));
            }
        for (const char* kind : {"sym_bool_values", "sym_float_values", "custom_obj_values"})
            if (const json* const others = member(graph, kind))
                for (const auto& [name, value] : others->items())
                    program_.otherValues.insert(name);
        if (const json* const truths = member(graph, "sym_bool_values"))
            for (const auto& [name, value] : truths->items())
                if (const json* const expression = member(value, "as_expr"))
                    if (const json* const text = member(*expression, "expr_str");
                        text != nullptr && text->is_string())
                        truths_[name] = text->get<std::string>();
        return {};
    }

    Result<void> readInputs(const json& signature) {
        KERNELSKILL_TRY(const json* const specs, requiredArray(signature, "input_specs", where_));
        for (const json& spec : *specs) {
            const std::string where =
                partOf(where_, fmt::format("input {}", program_.inputs.size() + 1));
            KERNELSKILL_TRY(Input input, readInput(spec, where));
            using enum Input::Kind;
            if (input.kind == Token)
                program_.otherValues.insert(input.value);
            if (input.kind == Parameter || input.kind == Buffer || input.kind == Constant) {
                const auto type = program_.values.find(input.value);
                if (type == program_.values.end())
                    return malformed(fmt::format("'{}' has no type", input.value), where);
                program_.tensors[input.target] = {type->second, {}, nullptr};
            }
            program_.inputs.push_back(std::move(input));
        }
        return {};
    }

    Result<void> readOutputs(const json& signature) {
        KERNELSKILL_TRY(const json* const specs, requiredArray(signature, "output_specs", where_));
        for (const json& spec : *specs) {
            KERNELSKILL_TRY(
                Output output,
                readOutput(spec,
                           partOf(where_, fmt::format("output {}", program_.outputs.size() + 1))));
            program_.outputs.push_back(std::move(output));
        }
        return {};
    }

    Result<void> readNode(const json& value) {
        Node node;
        const std::string number = fmt::format("node {}", program_.nodes.size() + 1);
        KERNELSKILL_TRY(const std::string target,
                        requiredText(value, "target", partOf(where_, number)));
        node.target = targetOf(target);
        if (const json* const name = member(value, "name")) {
            KERNELSKILL_TRY(node.name, textOf(*name, partOf(where_, number)));
        }
        node.module = moduleOf(value);
        // Without a name, as in older archives, a node is called by its first result.
        const std::string where = partOf(
            where_,
            fmt::format("{} ({})", node.name.empty() ? number : fmt::format("node '{}'", node.name),
                        node.target));
        KERNELSKILL_TRY(const json* const inputs, requiredArray(value, "inputs", where));
        for (const json& input : *inputs) {
            NamedArgument argument;
            KERNELSKILL_TRY(argument.name, requiredText(input, "name", where));
            KERNELSKILL_TRY(const json* const given, requiredObject(input, "arg", where));
            KERNELSKILL_TRY(argument.value,
                            readArgument(*given, argument.name.empty()
                                                     ? where
                                                     : partOf(where, fmt::format("argument '{}'",
                                                                                 argument.name))));
            node.arguments.push_back(std::move(argument));
        }
        KERNELSKILL_TRY(const json* const outputs, requiredArray(value, "outputs", where));
        for (const json& output : *outputs) {
            KERNELSKILL_TRY(const Argument result, readArgument(output, where));
            std::vector<std::string> names = valuesIn(result);
            // None, or a number: no later node reads it.
            const bool isList = std::holds_alternative<std::vector<ValueName>>(result);
            if (names.empty() && !isList)
                names.emplace_back();
            node.results.push_back(std::move(names));
        }
        if (node.name.empty())
            node.name = node.results.empty() || node.results.front().empty() ||
                                node.results.front().front().empty()
                            ? fmt::format("node_{}", program_.nodes.size() + 1)
                            : node.results.front().front();
        program_.nodes.push_back(std::move(node));
        return {};
    }

    std::string where_;
    Program program_;
    std::map<std::string, SymbolRange> ranges_;
    std::map<std::string, std::string> truths_; ///< Conditions on extents, as sympy writes them.
};

} // namespace

Result<Program> readGraph(std::string_view json, const std::string& where) {
    return GraphReader(where).read(json);
}

} // namespace kernelskill::engine::graph
