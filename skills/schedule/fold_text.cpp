#include "skills/schedule/fold_text.h"

#include "analysis/queries/code_map.h"
#include "skills/editing/operand_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>

namespace kernelskill::skills {

using namespace analysis;

std::string identityOf(const LaneFold& fold) {
    const std::string suffix = fold.scalar == ScalarKind::Float    ? ".0f"
                               : fold.scalar == ScalarKind::Double ? ".0"
                                                                   : "";
    return (fold.op == "*" ? "1" : "0") + suffix;
}

std::string foldLine(const LaneFold& fold, const std::string& value) {
    if (fold.op != "min" && fold.op != "max")
        return fmt::format("{} {}= {};", fold.name, fold.op, value);
    const std::string function = fold.scalar == ScalarKind::Float    ? "f" + fold.op + "f"
                                 : fold.scalar == ScalarKind::Double ? "f" + fold.op
                                                                     : fold.op;
    return fmt::format("{0} = {1}({0}, {2});", fold.name, function, value);
}

namespace {

/// Returns the name for another thread's value of that name: "otherBest".
std::string otherName(const FunctionBody& body, std::string name) {
    name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return freshName(body, "other" + name);
}

/// Among equal values the first place is found by ">" and "<", the last by ">=" and "<=".
std::vector<std::string> extremeLines(const Draft& draft, const FunctionBody& body,
                                      const ExtremeFold& fold, const OtherValue& other) {
    const Variable& best = body.variable(fold.best);
    const std::string unit = draft.layout().unit();
    const std::string strict = fold.comparison.substr(0, 1);
    const std::string value = otherName(body, best.name);
    std::vector<std::string> lines{
        fmt::format("const {} {} = {};", best.type.spelling, value, other(best.name))};
    if (fold.place == noId) {
        lines.push_back(fmt::format("if ({} {} {})", value, strict, best.name));
        lines.push_back(unit + fmt::format("{} = {};", best.name, value));
        return lines;
    }
    const Variable& place = body.variable(fold.place);
    const std::string where = otherName(body, place.name);
    lines.push_back(
        fmt::format("const {} {} = {};", place.type.spelling, where, other(place.name)));
    lines.push_back(fmt::format("if ({0} {1} {2} || ({0} == {2} && {3} {4} {5})) {{", value, strict,
                                best.name, where, fold.comparison.size() == 1 ? "<" : ">",
                                place.name));
    lines.push_back(unit + fmt::format("{} = {};", best.name, value));
    lines.push_back(unit + fmt::format("{} = {};", place.name, where));
    lines.emplace_back("}");
    return lines;
}

/// Puts the values of another thread, the best one first, into one's own ranks. Behind the ones
/// that came before it, a value can be no better than its own rank.
std::vector<std::string> rankedLines(const Draft& draft, const FunctionBody& body,
                                     const RankedFold& fold, const OtherValue& other) {
    const std::string unit = draft.layout().unit();
    const std::string better = fold.isLargest ? ">" : "<";
    std::vector<std::string> lines;
    const auto declare = [&](const std::vector<VariableId>& variables) {
        std::vector<std::string> names;
        for (const VariableId id : variables) {
            const Variable& variable = body.variable(id);
            names.push_back(otherName(body, variable.name));
            lines.push_back(fmt::format("const {} {} = {};", variable.type.spelling, names.back(),
                                        other(variable.name)));
        }
        return names;
    };
    const std::vector<std::string> values = declare(fold.best);
    const std::vector<std::string> places = declare(fold.places);
    const auto nameOf = [&](VariableId id) { return body.variable(id).name; };
    const auto move = [&](const std::vector<VariableId>& ranks, std::size_t rank,
                          const std::string& value) {
        for (std::size_t later = ranks.size() - 1; later > rank; --later)
            lines.push_back(
                unit + fmt::format("{} = {};", nameOf(ranks[later]), nameOf(ranks[later - 1])));
        lines.push_back(unit + fmt::format("{} = {};", nameOf(ranks[rank]), value));
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t rank = i; rank < values.size(); ++rank) {
            const std::string best = nameOf(fold.best[rank]);
            std::string condition = fmt::format("{} {} {}", values[i], better, best);
            if (!places.empty()) // Of equal values, the first one ranks first.
                condition += fmt::format(" || ({} == {} && {} < {})", values[i], best, places[i],
                                         nameOf(fold.places[rank]));
            lines.push_back(fmt::format("{}if ({}) {{", rank == i ? "" : "} else ", condition));
            move(fold.best, rank, values[i]);
            if (!places.empty())
                move(fold.places, rank, places[i]);
        }
        lines.emplace_back("}");
    }
    return lines;
}

/// Combines two means and sums of squared deviations by the formula of Chan, Golub and LeVeque.
/// Either thread may have had no round: nothing is divided by a sum of two counts of 0, and a count
/// of 0 is a factor before the square of a large mean can overflow.
std::vector<std::string> welfordLines(const Draft& draft, const FunctionBody& body,
                                      const WelfordFold& fold, const OtherValue& other) {
    const Variable& mean = body.variable(fold.mean);
    const Variable& m2 = body.variable(fold.m2);
    const std::string count = otherName(body, fold.countName);
    const std::string otherMean = otherName(body, mean.name);
    const std::string otherM2 = otherName(body, m2.name);
    const std::string gap = freshName(body, "gap");
    const std::string shift = freshName(body, "shift");
    std::vector<std::string> lines{
        fmt::format("const {} {} = {};", fold.countType, count, other(fold.countName)),
        fmt::format("const {} {} = {};", mean.type.spelling, otherMean, other(mean.name)),
        fmt::format("const {} {} = {};", m2.type.spelling, otherM2, other(m2.name))};
    std::vector<std::string> combined{
        fmt::format("const {} {} = {} - {};", mean.type.spelling, gap, otherMean, mean.name),
        fmt::format("const {0} {1} = {2} * {3} / ({4} + {3});", mean.type.spelling, shift, gap,
                    count, fold.countName),
        fmt::format("{} += {};", mean.name, shift),
        fmt::format("{} += {} + {} * {} * {};", m2.name, otherM2, shift, fold.countName, gap),
        fmt::format("{} += {};", fold.countName, count)};
    for (std::string& line :
         draft.controlled(fmt::format("if ({} > 0)", count), std::move(combined)))
        lines.push_back(std::move(line));
    return lines;
}

/// Counts a thread's own rounds where the text uses the number of the round.
void countRounds(Draft& draft, const SkillContext& context, const WelfordFold& fold) {
    const FunctionBody& body = context.kernel.body;
    if (fold.round == noId)
        return;
    const std::string step = fmt::format("++{};", fold.countName);
    if (fold.count != noId) {
        draft.replace(body.stmt(fold.counted).span, step);
        return;
    }
    draft.before(fold.counted, {step});
    draft.replace(withParentheses(*context.file.source, body.expr(fold.round).span),
                  fold.countName);
}

} // namespace

void shareRounds(Draft& draft, const SkillContext& context, const LaneLoop& shared,
                 const Sharers& sharers) {
    const FunctionBody& body = context.kernel.body;
    const Loop& loop = context.kernel.loops[shared.loop];
    const Expr& lower = body.expr(loop.lowerBound);
    const std::int64_t step = *loop.step;
    const std::string own = step == 1 ? sharers.index : fmt::format("{} * {}", sharers.index, step);
    draft.replace(lower.span,
                  context.code().constantValue(loop.lowerBound) == 0
                      ? own
                      : fmt::format("{} + {}", besideComparison(*context.file.source, lower), own));
    draft.replace(
        body.expr(body.stmt(shared.statement).increment).span,
        fmt::format("{} += {}", body.variable(loop.inductionVariable).name,
                    step == 1 ? sharers.count : fmt::format("{} * {}", step, sharers.count)));
    for (const WelfordFold& fold : shared.welfords)
        countRounds(draft, context, fold);
    std::vector<std::string> resets;
    for (const LaneFold& fold : shared.folds)
        if (!isIdempotent(fold) && !fold.startsNeutral)
            resets.push_back(fmt::format("{} = {};", fold.name, identityOf(fold)));
    if (!resets.empty())
        draft.before(shared.statement, draft.controlled(fmt::format("if ({} != 0)", sharers.index),
                                                        std::move(resets)));
}

std::vector<std::string> countLines(const LaneLoop& loop) {
    std::vector<std::string> lines;
    for (const WelfordFold& fold : loop.welfords)
        if (fold.count == noId)
            lines.push_back(fmt::format("{} {} = 0;", fold.countType, fold.countName));
    return lines;
}

std::vector<FoldedValue> foldedValues(const SkillContext& context, const LaneLoop& loop) {
    const FunctionBody& body = context.kernel.body;
    std::vector<FoldedValue> values;
    for (const LaneFold& fold : loop.folds)
        values.push_back({fold.name, fold.type});
    for (const ExtremeFold& fold : loop.extremes)
        for (const VariableId id : {fold.best, fold.place})
            if (id != noId)
                values.push_back({body.variable(id).name, body.variable(id).type.spelling});
    for (const RankedFold& fold : loop.ranks)
        for (const auto* variables : {&fold.best, &fold.places})
            for (const VariableId id : *variables)
                values.push_back({body.variable(id).name, body.variable(id).type.spelling});
    for (const WelfordFold& fold : loop.welfords) {
        values.push_back({fold.countName, fold.countType});
        for (const VariableId id : {fold.mean, fold.m2})
            values.push_back({body.variable(id).name, body.variable(id).type.spelling});
    }
    return values;
}

std::vector<std::string> foldLines(const Draft& draft, const SkillContext& context,
                                   const LaneLoop& loop, const OtherValue& other) {
    std::vector<std::string> lines;
    for (const LaneFold& fold : loop.folds)
        lines.push_back(foldLine(fold, other(fold.name)));
    for (const ExtremeFold& fold : loop.extremes)
        for (std::string& line : extremeLines(draft, context.kernel.body, fold, other))
            lines.push_back(std::move(line));
    for (const RankedFold& fold : loop.ranks)
        for (std::string& line : rankedLines(draft, context.kernel.body, fold, other))
            lines.push_back(std::move(line));
    for (const WelfordFold& fold : loop.welfords)
        for (std::string& line : welfordLines(draft, context.kernel.body, fold, other))
            lines.push_back(std::move(line));
    return lines;
}

std::vector<std::string> agreeLines(const SkillContext& context, const LaneLoop& loop,
                                    const OtherValue& first) {
    std::vector<std::string> lines;
    for (const WelfordFold& fold : loop.welfords)
        for (const VariableId id : {fold.mean, fold.m2}) {
            const std::string& name = context.kernel.body.variable(id).name;
            lines.push_back(fmt::format("{} = {};", name, first(name)));
        }
    return lines;
}

std::vector<std::vector<Partial>> partialsOf(const SkillContext& context,
                                             const SharedLoops& shared) {
    std::vector<std::string> names;
    std::vector<std::vector<Partial>> all;
    for (const LaneLoop& loop : shared.loops) {
        std::vector<Partial>& partials = all.emplace_back();
        for (FoldedValue& value : foldedValues(context, loop)) {
            value.type = withoutConst(std::move(value.type));
            std::string name =
                freshName(context.kernel.body, joinedName(context, "partial", value.name));
            while (std::ranges::find(names, name) != names.end())
                name += '2';
            names.push_back(name);
            partials.push_back({std::move(value), std::move(name)});
        }
    }
    return all;
}

const Partial& partialOf(const std::vector<Partial>& partials, const std::string& name) {
    return *std::ranges::find_if(
        partials, [&](const Partial& partial) { return partial.value.name == name; });
}

void writeHead(Draft& draft, const SkillContext& context, const std::vector<std::string>& lines) {
    const SourceLayout& layout = draft.layout();
    const std::uint32_t open = context.kernel.bodySpan.begin + 1;
    const std::uint32_t at = layout.endOfLineTrivia(open);
    const std::string indentation =
        layout.indentation(context.kernel.bodySpan.end - 1) + layout.unit();
    std::string text;
    for (const std::string& line : lines)
        text += layout.newline() + indentation + line;
    if (at == open && !layout.endsLine(open))
        text += layout.newline() + indentation;
    draft.replace({at, at}, std::move(text));
}

std::string withoutConst(std::string type) {
    for (const std::string_view word : {"const ", "volatile "})
        for (auto at = type.find(word); at != std::string::npos; at = type.find(word))
            type.erase(at, word.size());
    return type;
}

std::string joinedName(const SkillContext& context, std::string_view first, std::string name) {
    const bool hasUnderscores =
        std::ranges::any_of(context.kernel.body.variables, [](const Variable& variable) {
            return variable.storage != Storage::HostGlobal && variable.name.contains('_');
        });
    if (hasUnderscores || name.contains('_'))
        return fmt::format("{}_{}", first, name);
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return std::string(first) + name;
}

} // namespace kernelskill::skills
