#include "engine/graph/model/sizes_source.h"

#include "engine/graph/extent_relation.h"
#include "engine/graph/kernels/kernel_draft.h"
#include "engine/graph/model/kernel_file.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Buffer;

constexpr std::int64_t noLow = std::numeric_limits<std::int64_t>::min();

const Buffer& inputOf(const ModelPlan& plan, const SymbolSource& source) {
    const auto input = std::ranges::find(plan.inputs, source.input, &ModelTensor::source);
    return plan.program.buffers.at(input->buffer);
}

/// A condition that holds for values outside of the range; empty if there are none.
std::string outsideText(const std::string& symbol, const SymbolRange& range) {
    std::string text;
    if (range.low > noLow)
        text = fmt::format("{} < {}LL", symbol, range.low);
    if (range.high)
        text += fmt::format("{}{} > {}LL", text.empty() ? "" : " || ", symbol, *range.high);
    return text;
}

std::string rangeCheck(const ModelPlan& plan, const SymbolSource& source) {
    const SymbolRange& range = plan.graph.symbols.at(source.symbol);
    const std::string outside = outsideText(source.symbol, range);
    if (outside.empty())
        return {};
    return fmt::format("    if ({})\n"
                       "        return \"{}, the {}, is \" + std::to_string({}) + \", and the "
                       "model takes {}\";\n",
                       outside, source.symbol, textOf(source), source.symbol, rangeText(range));
}

std::string relationCheck(const PlannedRelation& relation) {
    return fmt::format("    if (!({} {} {}))\n        return \"{} does not hold\";\n",
                       hostText(relation.left), operatorOf(relation.stated.kind),
                       hostText(relation.right), textOf(relation.stated));
}

std::string problemDefinition(const ModelPlan& plan) {
    std::string text =
        "std::string Model::problemOf(const Sizes& sizes)\n{\n" + sizeConstants(plan, "sizes");
    for (const SymbolSource& source : plan.symbolSources)
        text += rangeCheck(plan, source);
    for (const PlannedRelation& relation : plan.relations)
        text += relationCheck(relation);
    return text + "    return {};\n}\n";
}

std::string takenSize(const ModelPlan& plan, const SymbolSource& source) {
    std::string extent = fmt::format("shapes.{}[{}]", inputOf(plan, source).name, source.axis);
    if (source.offset != 0)
        extent = fmt::format("({} - ({}LL))", extent, source.offset);
    if (source.factor != 1)
        extent += fmt::format(" / {}LL", source.factor);
    return fmt::format("    sizes.{} = {};\n", source.symbol, extent);
}

std::string sizesDefinition(const ModelPlan& plan) {
    std::string text = "std::string Model::sizesOf(const Shapes& shapes, Sizes& sizes)\n{\n";
    for (const SymbolSource& source : plan.symbolSources)
        text += takenSize(plan, source);
    text += "    std::string problem = problemOf(sizes);\n" + sizeConstants(plan, "sizes");
    text += "    const auto expect = [&](const char* input, int axis, long long found, long long "
            "wanted, const char* name) {\n"
            "        if (problem.empty() && found != wanted)\n"
            "            problem = std::string(\"the input \") + input + \" has the extent \" + "
            "std::to_string(found) + \" at axis \" +\n"
            "                      std::to_string(axis) + \", and not \" + name + "
            "std::to_string(wanted);\n"
            "    };\n";
    for (const ModelTensor& input : plan.inputs) {
        const Buffer& buffer = plan.program.buffers.at(input.buffer);
        for (std::size_t axis = 0; axis < buffer.shape.size(); ++axis) {
            const auto& extent = buffer.shape[axis];
            const Extent& stated = plan.graph.values.at(input.source).sizes.at(axis);
            const std::string name = stated.isDynamic() ? stated.expression + " = " : "";
            text += fmt::format("    expect(\"{}\", {}, shapes.{}[{}], {}, \"{}\");\n",
                                input.source, axis, buffer.name, axis, hostText(extent), name);
        }
    }
    return text + "    return problem;\n}\n";
}

} // namespace

std::string sizeConstants(const ModelPlan& plan, const std::string& object,
                          const std::string& indent) {
    std::string text;
    for (const std::string& symbol : plan.symbols)
        text += fmt::format("{}[[maybe_unused]] const long long {} = {}.{};\n", indent, symbol,
                            object, symbol);
    return text;
}

std::string sizesMembers(const ModelPlan& plan) {
    if (plan.symbols.empty())
        return {};
    std::string text = "    /// The program's dynamic extents.\n    struct Sizes {\n";
    for (const SymbolSource& source : plan.symbolSources)
        text += fmt::format("        long long {} = 0; ///< {}: {}\n", source.symbol,
                            rangeText(plan.graph.symbols.at(source.symbol)), textOf(source));
    text +=
        "    };\n    /// The extents of the inputs, the outermost first.\n    struct Shapes {\n";
    for (const ModelTensor& input : plan.inputs) {
        const Buffer& buffer = plan.program.buffers.at(input.buffer);
        if (!buffer.shape.empty())
            text += fmt::format("        long long {}[{}] = {{}}; ///< {}\n", buffer.name,
                                buffer.shape.size(), shapeText(buffer.shape));
    }
    return text +
           "    };\n"
           "    /// Takes the sizes from the inputs' extents. Says what is wrong with these, in a "
           "sentence; empty if the\n"
           "    /// program takes them.\n"
           "    static std::string sizesOf(const Shapes& shapes, Sizes& sizes);\n"
           "    /// Says which of the sizes the program does not take; empty if it takes them.\n"
           "    static std::string problemOf(const Sizes& sizes);\n";
}

std::string sizesDefinitions(const ModelPlan& plan) {
    return plan.symbols.empty() ? std::string()
                                : problemDefinition(plan) + "\n" + sizesDefinition(plan) + "\n";
}

} // namespace kernelskill::engine::graph
