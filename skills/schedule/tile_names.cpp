#include "skills/schedule/tile_names.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/value_spelling.h"

#include <algorithm>
#include <cctype>

namespace kernelskill::skills {

using namespace analysis;

TileNames::TileNames(const SkillContext& context, const Contraction& found)
    : body_(context.kernel.body), taken_(found.keptNames.begin(), found.keptNames.end()) {
    hasUnderscores_ = std::ranges::any_of(body_.variables, [](const Variable& variable) {
        return variable.storage != Storage::HostGlobal && variable.name.contains('_');
    });
    slow = axisNames(found.axes.slow);
    fast = axisNames(found.axes.fast);
    for (const TermLoop& loop : found.loops) {
        const Variable& term = body_.variable(context.kernel.loops[loop.loop].inductionVariable);
        TermNames names;
        names.term = term.name;
        names.type = valueSpelling(term.type);
        names.begin = fresh(term.name.size() == 1 ? term.name + "0" : joined(term.name, "Begin"));
        names.end = fresh(joined(term.name, "End"));
        for (const TileOperand& operand : loop.operands) {
            std::string array = context.shared().nest().arrays[operand.array].name;
            std::ranges::replace_if(
                array, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
            names.operands.push_back(
                {fresh(joined(array, "Tile")), fresh(joined(array, "Values"))});
        }
        loops.push_back(std::move(names));
    }
    thread = fresh("thread");
    element = fresh("element");
    offset = fresh("offset");
    value = fresh("value");
    tile = fresh("tile");
    tiles = fresh("tiles");
    columns = fresh(joined("tile", "Columns"));
}

AxisNames TileNames::axisNames(const OutputAxis& axis) {
    const Variable& position = body_.variable(axis.variable);
    AxisNames names;
    names.position = position.name;
    names.type = valueSpelling(position.type);
    names.begin = fresh(joined(position.name, "Begin"));
    names.step = fresh(position.name.size() == 1 ? position.name + position.name
                                                 : joined(position.name, "Offset"));
    names.blocks = fresh(joined(position.name, "Blocks"));
    names.end = fresh(joined(position.name, "End"));
    return names;
}

std::string TileNames::fresh(const std::string& wanted) {
    std::string name = freshName(body_, wanted);
    for (int number = 2; taken_.contains(name); ++number)
        name = freshName(body_, wanted + std::to_string(number));
    taken_.insert(name);
    return name;
}

std::string TileNames::joined(const std::string& name, std::string_view word) const {
    if (!hasUnderscores_)
        return name + std::string(word);
    std::string lower(word);
    lower.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(lower.front())));
    return name + "_" + lower;
}

} // namespace kernelskill::skills
