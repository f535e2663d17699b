#include "lsp-server/report/program_text.h"

#include "engine/graph/extent_relation.h"
#include "engine/graph/limitations.h"
#include "engine/graph/symbol_values.h"
#include "engine/graph/tensor_extents.h"
#include "engine/graph/type_text.h"
#include "lsp-server/report/program_json.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace kernelskill::lsp {
namespace {

namespace graph = engine::graph;

/// Beyond it a column does not push the next ones away.
constexpr std::size_t maxColumn = 48;
constexpr std::size_t maxArguments = 160;

using Row = std::vector<std::string>;

/// Rows with columns that are as wide as their widest cell; the last one is as it is.
std::string tableText(const std::vector<Row>& rows) {
    std::vector<std::size_t> widths;
    for (const Row& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], std::min(row[i].size(), maxColumn));
    }
    std::string text;
    for (const Row& row : rows) {
        std::string line = " ";
        for (std::size_t i = 0; i < row.size(); ++i)
            line += fmt::format(" {:<{}}", graph::printable(row[i]), widths[i]);
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string argumentsText(const graph::Node& node) {
    std::string text;
    for (const graph::NamedArgument& argument : node.arguments) {
        text += text.empty() ? "" : ", ";
        // A tensor's place in the call says what it is.
        if (!std::holds_alternative<graph::ValueName>(argument.value) && !argument.name.empty())
            text += argument.name + "=";
        text += textOf(argument.value);
    }
    if (text.size() > maxArguments)
        text = text.substr(0, maxArguments) + " ...";
    return text;
}

std::string resultsText(const graph::Program& program, const graph::Node& node) {
    std::string text;
    for (const auto& result : node.results)
        for (const std::string& name : result)
            text += (text.empty() ? "" : ", ") + (name.empty() ? "None" : valueText(program, name));
    return text.empty() ? "-" : text;
}

std::string weightsText(const graph::Program& program) {
    std::size_t withData = 0;
    for (const auto& [name, tensor] : program.tensors)
        withData += tensor.owner != nullptr ? 1 : 0;
    return fmt::format(
        "weights: {} tensor{}, {} bytes{}\n", program.tensors.size(),
        program.tensors.size() == 1 ? "" : "s", weightBytes(program),
        withData == program.tensors.size() ? "" : fmt::format(", {} of them with data", withData));
}

} // namespace

std::string programText(const graph::Program& program, const std::string& file) {
    std::string text = fmt::format(
        "program {}\ntorch {}, schema {}.{}\n", file,
        program.torchVersion.empty() ? "(version unknown)" : graph::printable(program.torchVersion),
        program.schemaMajor, program.schemaMinor);
    std::vector<Row> rows;
    for (const auto& [name, range] : program.symbols)
        rows.push_back({name, graph::rangeText(range)});
    for (const graph::ExtentRelation& relation : program.relations)
        rows.push_back({textOf(relation),
                        relation.node.empty() ? std::string() : "asserted by " + relation.node});
    if (!rows.empty())
        text += "symbols\n" + tableText(rows);
    rows.clear();
    for (const graph::Input& input : program.inputs)
        if (input.target.empty())
            rows.push_back({input.value, input.kind == graph::Input::Kind::Fixed
                                             ? "always " + textOf(input.fixed)
                                             : valueText(program, input.value)});
    text += "inputs\n" + tableText(rows);
    rows.clear();
    for (const graph::Output& output : program.outputs)
        rows.push_back({output.value.empty() ? "-" : output.value,
                        output.value.empty() ? "always " + textOf(output.fixed)
                                             : valueText(program, output.value),
                        output.target.empty() ? "" : "written to " + output.target});
    text += "outputs\n" + tableText(rows) + weightsText(program);
    if (!program.sampleInputs.empty())
        text += fmt::format("sample inputs: {}\n", program.sampleInputs.size());
    rows.clear();
    for (const graph::Node& node : program.nodes)
        rows.push_back({node.name, node.target, resultsText(program, node),
                        node.module.empty() ? "-" : node.module, argumentsText(node)});
    text += fmt::format("nodes: {}\n", program.nodes.size()) + tableText(rows);
    const std::vector<graph::Limitation> found = limitations(program);
    if (found.empty())
        return text + "limitations: none\n";
    text += fmt::format("limitations: {}\n", found.size());
    for (const graph::Limitation& limitation : found)
        text += fmt::format("  {}\n", graph::printable(limitation.sentence));
    return text;
}

} // namespace kernelskill::lsp
