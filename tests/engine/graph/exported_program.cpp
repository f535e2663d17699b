#include "tests/engine/graph/exported_program.h"

#include "analysis/source/json.h"
#include "engine/graph/extent_expression.h"
#include "engine/graph/extent_relation.h"
#include "tests/engine/graph/archive_writer.h"

#include <fstream>
#include <limits>
#include <stdexcept>
#include <variant>

namespace kernelskill::engine::graph::testing {
namespace {

using nlohmann::json;

/// The class by which sympy, or torch.utils._sympy, writes an operator.
const char* className(ExtentExpression::Kind kind) {
    using enum ExtentExpression::Kind;
    switch (kind) {
    case Sum:
        return "Add";
    case Product:
        return "Mul";
    case Quotient:
        return "Rational";
    case FloorDivide:
        return "FloorDiv";
    case CeilDivide:
        return "CeilDiv";
    case Modulo:
        return "Mod";
    case Power:
        return "Pow";
    case Min:
        return "Min";
    case Max:
        return "Max";
    case Integer:
    case Symbol:
        break;
    }
    return "";
}

/// sympy's srepr.
std::string sreprOf(const ExtentExpression& expression) {
    if (expression.kind == ExtentExpression::Kind::Integer)
        return "Integer(" + std::to_string(expression.integer) + ")";
    if (expression.kind == ExtentExpression::Kind::Symbol)
        return "Symbol('" + expression.symbol + "', positive=True, integer=True)";
    std::string text = std::string(className(expression.kind)) + "(";
    for (std::size_t i = 0; i < expression.operands.size(); ++i)
        text += (i > 0 ? ", " : "") + sreprOf(expression.operands[i]);
    return text + ")";
}

std::string sreprOf(const std::string& text) {
    const auto expression = parseExtent(text, {});
    if (!expression)
        throw std::runtime_error(expression.error().describe());
    return sreprOf(*expression);
}

std::string sreprOf(const ExtentRelation& relation) {
    using enum ExtentRelation::Kind;
    const char* name = relation.kind == Equal       ? "Equality"
                       : relation.kind == Different ? "Unequality"
                       : relation.kind == AtMost    ? "LessThan"
                                                    : "StrictLessThan";
    return std::string(name) + "(" + sreprOf(relation.left) + ", " + sreprOf(relation.right) + ")";
}

json extentJson(const Extent& extent) {
    if (!extent.isDynamic())
        return {{"as_int", extent.value}};
    const json hint = extent.value < 0 ? json() : json{{"as_int", extent.value}};
    return {{"as_expr", {{"expr_str", sreprOf(extent.expression)}, {"hint", hint}}}};
}

json extentsJson(const std::vector<Extent>& extents) {
    json list = json::array();
    for (const Extent& extent : extents)
        list.push_back(extentJson(extent));
    return list;
}

json typeJson(const TensorType& type) {
    return {{"dtype", static_cast<int>(type.element)},
            {"sizes", extentsJson(type.sizes)},
            {"requires_grad", false},
            {"device", {{"type", "cpu"}, {"index", nullptr}}},
            {"strides", extentsJson(type.strides)},
            {"storage_offset", extentJson(type.offset)},
            {"layout", 7}};
}

json named(const std::string& name) {
    return {{"name", name}};
}

json symbolicJson(const SymbolicInt& number) {
    if (const auto* name = std::get_if<ValueName>(&number))
        return {{"as_name", name->name}};
    return {{"as_int", std::get<std::int64_t>(number)}};
}

class ProgramWriter {
public:
    explicit ProgramWriter(const Program& program) : program_(program) {}

    json write() {
        json tensors = json::object();
        for (const auto& [name, type] : program_.values)
            tensors[name] = typeJson(type);
        json integers = json::object();
        for (const auto& [name, extent] : program_.symbolicInts)
            integers[name] = extentJson(extent);
        json truths = json::object();
        for (const std::string& name : program_.otherValues)
            truths[name] = {{"as_expr", {{"expr_str", truthText(name)}}}};
        json nodes = json::array();
        for (const Node& node : program_.nodes)
            nodes.push_back(nodeJson(node));
        json ranges = json::object();
        for (const auto& [symbol, range] : program_.symbols)
            ranges[symbol] = {{"min_val", range.low == std::numeric_limits<std::int64_t>::min()
                                              ? json()
                                              : json(range.low)},
                              {"max_val", range.high ? json(*range.high) : json()}};
        return {{"graph_module",
                 {{"graph",
                   {{"inputs", json::array()},
                    {"outputs", json::array()},
                    {"nodes", nodes},
                    {"tensor_values", tensors},
                    {"sym_int_values", integers},
                    {"sym_bool_values", truths},
                    {"sym_float_values", json::object()},
                    {"is_single_tensor_return", false},
                    {"custom_obj_values", json::object()}}},
                  {"signature", signatureJson()},
                  {"module_call_graph", json::array()}}},
                {"opset_version", {{"aten", 10}}},
                {"range_constraints", ranges},
                {"schema_version", {{"major", 8}, {"minor", 17}}},
                {"torch_version", "2.11.0+cpu"},
                {"guards_code", json::array()}};
    }

private:
    /// The conditions of the node that asserts the truth.
    std::string truthText(const std::string& truth) const {
        for (const Node& node : program_.nodes)
            for (const NamedArgument& argument : node.arguments)
                if (const auto* name = std::get_if<ValueName>(&argument.value);
                    name != nullptr && name->name == truth)
                    for (const ExtentRelation& relation : program_.relations)
                        if (relation.node == node.name)
                            return sreprOf(relation);
        return "true";
    }

    json valueJson(const std::string& name) const {
        if (program_.symbolicInts.contains(name))
            return {{"as_sym_int", {{"as_name", name}}}};
        if (program_.otherValues.contains(name))
            return {{"as_sym_bool", {{"as_name", name}}}};
        return {{"as_tensor", named(name)}};
    }

    json argumentJson(const Argument& argument) const {
        return std::visit([&](const auto& given) { return kindJson(given); }, argument);
    }
    static json kindJson(std::monostate) { return {{"as_none", true}}; }
    json kindJson(const ValueName& name) const { return valueJson(name.name); }
    static json kindJson(const std::vector<ValueName>& names) {
        json list = json::array();
        for (const ValueName& name : names)
            list.push_back(named(name.name));
        return {{"as_tensors", list}};
    }
    static json kindJson(const std::vector<std::optional<ValueName>>& names) {
        json list = json::array();
        for (const auto& name : names)
            list.push_back(name ? json{{"as_tensor", named(name->name)}} : json{{"as_none", true}});
        return {{"as_optional_tensors", list}};
    }
    static json kindJson(std::int64_t value) { return {{"as_int", value}}; }
    static json kindJson(double value) { return {{"as_float", value}}; }
    static json kindJson(bool value) { return {{"as_bool", value}}; }
    static json kindJson(const std::string& value) { return {{"as_string", value}}; }
    static json kindJson(const std::vector<std::int64_t>& values) { return {{"as_ints", values}}; }
    static json kindJson(const SymbolicInt& value) { return {{"as_sym_int", symbolicJson(value)}}; }
    static json kindJson(const std::vector<SymbolicInt>& values) {
        json list = json::array();
        for (const SymbolicInt& value : values)
            list.push_back(symbolicJson(value));
        return {{"as_sym_ints", list}};
    }
    template <typename Other>
    static json kindJson(const Other&) {
        throw std::runtime_error("an argument of a kind that is not written");
    }

    json nodeJson(const Node& node) const {
        json inputs = json::array();
        for (const NamedArgument& argument : node.arguments)
            inputs.push_back(
                {{"name", argument.name}, {"arg", argumentJson(argument.value)}, {"kind", 1}});
        json outputs = json::array();
        for (const auto& result : node.results) {
            if (result.size() == 1) {
                outputs.push_back(valueJson(result.front()));
                continue;
            }
            json list = json::array();
            for (const std::string& name : result)
                list.push_back(named(name));
            outputs.push_back({{"as_tensors", list}});
        }
        const std::string prefix = node.target.starts_with("aten.") ? "torch.ops." : "";
        return {{"target", prefix + node.target},
                {"inputs", inputs},
                {"outputs", outputs},
                {"metadata", json::object()},
                {"is_hop_single_tensor_return", nullptr},
                {"name", node.name}};
    }

    json signatureJson() const {
        json inputs = json::array();
        for (const Input& input : program_.inputs)
            inputs.push_back(
                input.kind == Input::Kind::User
                    ? json{{"user_input", {{"arg", valueJson(input.value)}}}}
                    : json{{"parameter",
                            {{"arg", named(input.value)}, {"parameter_name", input.target}}}});
        json outputs = json::array();
        for (const Output& output : program_.outputs)
            outputs.push_back({{"user_output", {{"arg", valueJson(output.value)}}}});
        return {{"input_specs", inputs}, {"output_specs", outputs}};
    }

    const Program& program_;
};

} // namespace

std::string exportedJson(const Program& program) {
    return ProgramWriter(program).write().dump();
}

std::string exportedArchive(const Program& program) {
    return writtenArchive({{"model/archive_format", "pt2"},
                           {"model/byteorder", "little"},
                           {"model/models/model.json", exportedJson(program)}});
}

void writeExported(const Program& program, const std::filesystem::path& path) {
    std::ofstream(path, std::ios::binary) << exportedArchive(program);
}

} // namespace kernelskill::engine::graph::testing
