#include "skills/schedule/tile_text.h"

#include "analysis/queries/guarded_work.h"
#include "analysis/queries/value_spelling.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/operand_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::string spaced(const std::string& type) {
    return type.ends_with('*') || type.ends_with('&') ? type : type + " ";
}

} // namespace

TileText::TileText(const SkillContext& context, const Contraction& found, const TileShape& shape)
    : found_(found), shape_(shape), code_(context.code()), body_(code_.body()),
      source_(*context.file.source), names_(context, found) {}

OutputRole TileText::roleOf(VariableId id) const {
    const auto role = found_.roles.find(id);
    return role == found_.roles.end() ? OutputRole::Block : role->second;
}

AxisSet TileText::dependsOn(VariableId id) const {
    const auto set = found_.dependsOn.find(id);
    return set == found_.dependsOn.end() ? AxisSet{0} : set->second;
}

AxisSet TileText::tiledAxes() const {
    return static_cast<AxisSet>((shape_.slow > 1 ? slowAxis : 0) |
                                (shape_.fast > 1 ? fastAxis : 0));
}

bool TileText::staysOnce(VariableId id) const {
    switch (roleOf(id)) {
    case OutputRole::Block:
        return !isLeftOver(id);
    case OutputRole::Axis:
        return id == found_.axes.slow.variable ? shape_.slow == 1 : shape_.fast == 1;
    case OutputRole::Derived:
        return (dependsOn(id) & (tiledAxes() | termAxis)) == 0 && !readsMemory(id);
    default:
        return false;
    }
}

/// Nothing needs it but positions that are written anew.
bool TileText::isLeftOver(VariableId id) const {
    const Variable& variable = body_.variable(id);
    const auto vanishes = [&](VariableId other) {
        return roleOf(other) == OutputRole::Dropped ||
               (roleOf(other) == OutputRole::Axis && !staysOnce(other));
    };
    const auto isUseThatVanishes = [&](ExprId use) {
        const StmtId statement = code_.statement(use);
        return statement != noId &&
               std::ranges::any_of(body_.stmt(statement).declared, [&](VariableId other) {
                   if (!vanishes(other) || initialiser(other).empty())
                       return false;
                   const auto below = code_.expressionsBelow(initialiser(other)[0]);
                   return std::ranges::find(below, use) != below.end();
               });
    };
    return variable.storage == Storage::Local && !code_.uses(id).empty() &&
           variable.name != found_.axes.slow.local && variable.name != found_.axes.fast.local &&
           std::ranges::all_of(code_.uses(id), isUseThatVanishes);
}

bool TileText::readsMemory(VariableId id) const {
    const ExprId init = body_.variable(id).init;
    return init != noId && skills::readsMemory(code_, init);
}

std::vector<ExprId> TileText::initialiser(VariableId id) const {
    return body_.variable(id).init == noId ? std::vector<ExprId>{}
                                           : std::vector{body_.variable(id).init};
}

bool TileText::isZero(ExprId id) const {
    const Expr& expr = body_.expr(id);
    if (expr.kind == ExprKind::Cast ||
        (expr.kind == ExprKind::InitList && expr.children.size() == 1))
        return isZero(expr.children[0]);
    return (expr.kind == ExprKind::Integer && expr.integer == 0) ||
           (expr.kind == ExprKind::Floating && expr.floating == 0) ||
           (expr.kind == ExprKind::InitList && expr.children.empty());
}

std::string TileText::definition(VariableId id) const {
    const Variable& variable = body_.variable(id);
    if (found_.axes.flat && found_.axes.flat->index == id)
        return fmt::format("const {} {} = {} * {} + {};", valueSpelling(variable.type),
                           variable.name, names_.slow.position, columnsText(),
                           names_.fast.position);
    if (variable.init == noId)
        return fmt::format("{}{};", spaced(variable.type.spelling), variable.name);
    return fmt::format("{}{} = {};", spaced(variable.type.spelling), variable.name,
                       textWith(body_.expr(variable.init).span));
}

std::string TileText::arrayOf(const std::string& name, const std::string& type,
                              AxisSet axes) const {
    std::string extents;
    if ((axes & slowAxis & tiledAxes()) != 0)
        extents += fmt::format("[{}]", shape_.slow);
    if ((axes & fastAxis & tiledAxes()) != 0)
        extents += fmt::format("[{}]", shape_.fast);
    return fmt::format("{}{}{} = {{}};", spaced(type), name, extents);
}

std::string TileText::suffix(AxisSet axes) const {
    std::string subscripts;
    if ((axes & slowAxis & tiledAxes()) != 0)
        subscripts += fmt::format("[{}]", names_.slow.step);
    if ((axes & fastAxis & tiledAxes()) != 0)
        subscripts += fmt::format("[{}]", names_.fast.step);
    return subscripts;
}

std::string TileText::textWith(Span span) const {
    std::vector<TextEdit> parts;
    const auto replace = [&](ExprId use, const std::string& text) {
        if (span.contains(body_.expr(use).span))
            parts.push_back({body_.expr(use).span, text});
    };
    for (const auto& [id, role] : found_.roles)
        if (role == OutputRole::Carried && (dependsOn(id) & tiledAxes()) != 0)
            for (const ExprId use : code_.uses(id))
                replace(use, body_.variable(id).name + suffix(dependsOn(id)));
    for (std::size_t at = 0; at < found_.kept.size(); ++at)
        for (const ExprId use : found_.kept[at].uses)
            replace(use, found_.keptNames[at] + suffix(found_.keptAxes[at]));
    for (std::size_t loop = 0; loop < found_.loops.size(); ++loop)
        for (std::size_t at = 0; at < found_.loops[loop].operands.size(); ++at)
            for (const ExprId use : found_.loops[loop].operands[at].uses)
                replace(use, valueText(loop, at));
    return rewritten(source_, span, std::move(parts));
}

const AxisNames& TileText::axisNames(AxisSet axis) const {
    return axis == slowAxis ? names_.slow : names_.fast;
}

const OutputAxis& TileText::outputAxis(AxisSet axis) const {
    return axis == slowAxis ? found_.axes.slow : found_.axes.fast;
}

int TileText::outputsAlong(AxisSet axis) const {
    return axis == slowAxis ? shape_.slow : shape_.fast;
}

int TileText::groupAlong(AxisSet axis) const {
    const int outputs = outputsAlong(axis);
    if (axis == slowAxis)
        return outputs;
    int group = outputs;
    for (const TermLoop& loop : found_.loops)
        for (const TileOperand& operand : loop.operands)
            if (operand.axis == axis)
                group = std::min(group, elementsOfALoad(operand.size));
    return group;
}

std::string TileText::placeAlong(AxisSet axis) const {
    const OutputAxis& output = outputAxis(axis);
    const std::string& step = axisNames(axis).step;
    const int outputs = outputsAlong(axis);
    const int group = groupAlong(axis);
    if (outputs == 1)
        return output.local;
    const std::string local = output.isLocalBare ? output.local : fmt::format("({})", output.local);
    if (output.threads == 1)
        return step;
    if (group == outputs)
        return fmt::format("{} * {} + {}", local, outputs, step);
    if (group == 1)
        return fmt::format("{} + {} * {}", local, step, output.threads);
    return fmt::format("{0} * {1} + {2} / {1} * {3} + {2} % {1}", local, group, step,
                       group * output.threads);
}

std::string TileText::valueText(std::size_t loop, std::size_t operand) const {
    const TermNames& names = names_.loops[loop];
    const AxisSet axis = found_.loops[loop].operands[operand].axis;
    if (outputsAlong(axis) > 1)
        return fmt::format("{}[{}]", names.operands[operand].values, axisNames(axis).step);
    return fmt::format("{}[{} - {}][{}]", names.operands[operand].tile, names.term, names.begin,
                       placeAlong(axis));
}

std::set<VariableId> TileText::neededBy(const std::vector<ExprId>& roots) const {
    std::set<VariableId> needed;
    std::vector<ExprId> open = roots;
    while (!open.empty()) {
        const ExprId root = open.back();
        open.pop_back();
        for (const ExprId id : code_.expressionsBelow(root)) {
            const VariableId variable = body_.expr(id).variable;
            if (body_.expr(id).kind != ExprKind::Variable || variable == noId ||
                staysOnce(variable) || !needed.insert(variable).second)
                continue;
            if (found_.axes.flat && found_.axes.flat->index == variable) {
                needed.insert(found_.axes.slow.variable);
                needed.insert(found_.axes.fast.variable);
            } else if (roleOf(variable) == OutputRole::Derived)
                open.push_back(body_.variable(variable).init);
        }
    }
    return needed;
}

std::vector<VariableId> TileText::derivedIn(const std::set<VariableId>& needed) const {
    std::vector<VariableId> found;
    for (const VariableId id : needed)
        if (roleOf(id) == OutputRole::Derived)
            found.push_back(id);
    std::ranges::sort(found, {}, [&](VariableId id) { return body_.variable(id).span.begin; });
    return found;
}

std::string TileText::columnsText() const {
    return besideProduct(source_, body_.expr(found_.axes.flat->columns));
}

AxisSet TileText::unboundedAxes() const {
    return skills::unboundedAxes(found_, shape_);
}

std::string TileText::endText(AxisSet axis) const {
    const OutputAxis& output = outputAxis(axis);
    constexpr std::uint32_t wideBytes = 8;
    const bool isWide = body_.variable(output.variable).type.size == wideBytes;
    std::string end =
        isWide ? fmt::format("static_cast<{}>({})", axisNames(axis).type, axisNames(axis).blocks)
               : axisNames(axis).blocks;
    if (output.threads > 1)
        end += fmt::format(" * {}", output.threads);
    return output.offset.empty() ? end : fmt::format("{} + {}", output.offset, end);
}

std::vector<std::string> TileText::guardTexts(const std::vector<GuardClause>& guard,
                                              AxisSet allowed) const {
    std::vector<std::string> texts;
    for (const AxisSet axis : {slowAxis, fastAxis})
        if ((unboundedAxes() & allowed & axis) != 0)
            texts.push_back(fmt::format("{} < {}", axisNames(axis).position, axisNames(axis).end));
    if (found_.axes.flat && (allowed & fastAxis) != 0)
        texts.push_back(
            fmt::format("{} < {}", names_.fast.position,
                        besideComparison(source_, body_.expr(found_.axes.flat->columns))));
    for (const GuardClause& clause : guard) {
        if ((clause.axes & ~allowed) == 0)
            texts.push_back(clauseText(clause));
        else if (found_.axes.flat && clause.axes == outputAxesSet)
            texts.push_back(fmt::format(
                "{} < {}",
                allowed == slowAxis ? fmt::format("{} * {}", names_.slow.position, columnsText())
                                    : names_.fast.position,
                boundText(found_.count)));
    }
    return texts;
}

std::string TileText::clauseText(const GuardClause& clause) const {
    const Expr& expr = body_.expr(clause.condition);
    const std::string text(source_.slice(expr.span));
    if (!clause.isNegated) {
        const bool isOpen = expr.kind == ExprKind::Conditional ||
                            (expr.kind == ExprKind::Binary && expr.op == "||");
        return isOpen ? "(" + text + ")" : text;
    }
    if (const std::string_view op = oppositeComparison(body_, expr);
        !op.empty() && isSpelledOut(code_, expr.children[0]) &&
        isSpelledOut(code_, expr.children[1]))
        return fmt::format("{} {} {}", source_.slice(body_.expr(expr.children[0]).span), op,
                           source_.slice(body_.expr(expr.children[1]).span));
    return fmt::format("!({})", text);
}

std::string TileText::beginText(AxisSet axis) const {
    const OutputAxis& output = outputAxis(axis);
    if (found_.axes.flat)
        return fmt::format("{} {} {} * {}", names_.tile, axis == slowAxis ? "/" : "%",
                           names_.columns, output.threads * outputsAlong(axis));
    if (output.gridAxis < 0)
        return output.offset.empty() ? "0" : output.offset;
    std::string block = fmt::format("blockIdx.{}", "xyz"[output.gridAxis]);
    const Type& type = body_.variable(output.variable).type;
    constexpr std::uint32_t wideBytes = 8;
    if (type.size == wideBytes)
        block = fmt::format("static_cast<{}>({})", axisNames(axis).type, block);
    const std::int64_t positions = output.threads * outputsAlong(axis);
    if (positions > 1)
        block += fmt::format(" * {}", positions);
    return output.offset.empty() ? block : fmt::format("{} + {}", output.offset, block);
}

std::string TileText::boundText(ExprId bound) const {
    const Expr& expr = body_.expr(bound);
    const bool isOpen =
        expr.fromMacro && (expr.kind == ExprKind::Binary || expr.kind == ExprKind::Conditional);
    return isOpen ? fmt::format("({})", source_.slice(expr.span)) : besideComparison(source_, expr);
}

std::set<VariableId> TileText::stagedFrom(const std::vector<ExprId>& roots) const {
    std::set<VariableId> needed;
    std::vector<ExprId> open = roots;
    while (!open.empty()) {
        const ExprId root = open.back();
        open.pop_back();
        for (const ExprId id : code_.expressionsBelow(root)) {
            const VariableId variable = body_.expr(id).variable;
            if (body_.expr(id).kind == ExprKind::Variable && variable != noId &&
                roleOf(variable) == OutputRole::Derived && needed.insert(variable).second)
                open.push_back(body_.variable(variable).init);
        }
    }
    return needed;
}

bool TileText::isArithmetic(const Type& type) {
    return type.lanes == 1 && type.pointerDepth == 0 && type.scalar >= ScalarKind::Bool &&
           type.scalar != ScalarKind::Half && type.scalar != ScalarKind::BFloat16;
}

bool TileText::isWithinOperand(const TermLoop& loop, ExprId use) const {
    for (ExprId at = use; at != noId; at = code_.parent(at))
        for (const TileOperand& operand : loop.operands)
            if (std::ranges::find(operand.uses, at) != operand.uses.end())
                return true;
    for (const KeptElement& element : found_.kept)
        for (ExprId at = use; at != noId; at = code_.parent(at))
            if (std::ranges::find(element.uses, at) != element.uses.end())
                return true;
    return false;
}

std::set<VariableId> TileText::usedBy(const std::vector<ExprId>& all) const {
    std::vector<ExprId> names;
    for (const ExprId id : all)
        if (body_.expr(id).kind == ExprKind::Variable)
            names.push_back(id);
    return neededBy(names);
}

} // namespace kernelskill::skills
