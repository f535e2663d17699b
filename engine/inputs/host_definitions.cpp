/// The places in a program's text that give a name its value.
#include "engine/inputs/branch_conditions.h"
#include "engine/inputs/host_scope.h"

#include <algorithm>
#include <ranges>

namespace kernelskill::engine {

using analysis::Expression;
using analysis::ExpressionKind;
using analysis::Value;

namespace {

/// Each condition may take time that is linear in the text before it.
constexpr std::size_t maxBranches = 256;

} // namespace

std::vector<HostScope::Definition> HostScope::definitionsOf(const std::string& name) const {
    std::vector<Definition> result;
    if (place_.function == nullptr)
        return result;
    const auto& all = tokens();
    std::size_t reached = place_.token;
    int closed = 0; // Blocks between here and the place that have ended there.
    for (const std::size_t i : file().tokensNamed(name, 0, place_.token) | std::views::reverse) {
        if (i < place_.function->bodyBegin + 1)
            break;
        if (i + 1 >= all.size())
            continue;
        const auto& before = all[i - 1];
        const auto& after = all[i + 1];
        if (before.is(".") || before.is("->") || before.is("::"))
            continue;
        for (; reached > i; --reached) {
            if (all[reached - 1].is("}"))
                ++closed;
            else if (all[reached - 1].is("{") && closed > 0)
                --closed;
        }
        const bool declares = before.isIdentifier() && !before.is("return") && !before.is("else");
        if (declares && closed > 0) // Another variable, of a block that has ended.
            continue;
        if (after.is("=")) {
            result.push_back({i, {i + 2, expressionEnd(i + 2)}});
        } else if (const auto change = changeAt(i)) {
            result.push_back(*change);
        } else if ((after.is("(") || after.is("{")) &&
                   (declares || before.is(",") || before.is(">"))) {
            const auto close = matchingBracket(all, i + 1);
            const bool ends =
                close + 1 < all.size() && (all[close + 1].is(";") || all[close + 1].is(","));
            if (ends)
                result.push_back({i, {i + 2, close}, true});
        }
    }
    return result;
}

std::optional<HostScope::Definition> HostScope::changeAt(std::size_t token) const {
    const auto& all = tokens();
    const auto isStep = [&](std::size_t i) { return all[i].is("++") || all[i].is("--"); };
    const bool isPrefix = isStep(token - 1);
    const std::size_t before = token - (isPrefix ? 2 : 1);
    // Changes in the head of a loop are left to the loop.
    const auto begins = {";", "{", "}", ")", "else", "do", ":"};
    if (std::ranges::none_of(begins, [&](const char* text) { return all[before].is(text); }))
        return std::nullopt;
    const std::size_t sign = isPrefix ? token - 1 : token + 1;
    const std::size_t operand = token + (isPrefix ? 1 : 2);
    const std::string_view text = all[sign].text;
    const auto assignments = {"+=", "-=", "*=", "/=", "%=", "<<=", ">>="};
    if (!isStep(sign) && std::ranges::find(assignments, text) == assignments.end())
        return std::nullopt;
    const std::size_t end = isStep(sign) ? operand : expressionEnd(operand);
    if (end >= all.size() || !all[end].is(";"))
        return std::nullopt;
    return Definition{token, {operand, end}, false, text.substr(0, text.size() - 1)};
}

std::optional<Value> HostScope::changedValue(const std::string& name,
                                             const Definition& change) const {
    const auto scope = at({place_.file, change.token, place_.function});
    std::optional<Expression> operand =
        Expression{ExpressionKind::Number, {}, Value::of(std::int64_t{1}), {}};
    if (change.value.first < change.value.second)
        operand = parseExpression(tokens(), change.value.first, change.value.second);
    if (!operand || scope.tooDeep())
        return std::nullopt;
    Expression result{ExpressionKind::Binary, std::string(change.change), {}, {}};
    result.children.push_back({ExpressionKind::Name, name, {}, {}});
    result.children.push_back(*std::move(operand));
    return evaluate(result, scope);
}

HostScope::Branch HostScope::branchAt(std::size_t token) const {
    Branch branch = Branch::Taken;
    for (const BranchCondition& one : branchConditions(file(), token, place_.token)) {
        if (one.rule == BranchRule::Unknown || ++settings_.branches > maxBranches) {
            branch = Branch::Unknown;
            continue;
        }
        EvaluationLog log;
        EvaluationSettings settings = settings_;
        settings.log = &log;
        HostScope scope(program_, {place_.file, one.statement, place_.function}, settings);
        scope.depth_ = depth_ + 1;
        scope.bindings_ = bindings_;
        const auto holds = scope.value(one.condition.first, one.condition.second);
        settings_.steps = settings.steps;
        settings_.branches = settings.branches;
        if (!holds) {
            branch = Branch::Unknown;
        } else if ((holds->asDouble() != 0) != (one.rule == BranchRule::IfTrue)) {
            if (!log.guesses.empty())
                noteSkipped();
            return Branch::NotTaken;
        }
    }
    return branch;
}

bool HostScope::isDeclaredHere(const std::string& pointer) const {
    if (place_.function == nullptr)
        return false;
    const auto& all = tokens();
    const auto places = file().tokensNamed(pointer, place_.function->bodyBegin, place_.token);
    return std::ranges::any_of(places, [&](std::size_t i) {
        return all[i - 1].is("*") && (all[i - 2].isIdentifier() || all[i - 2].is(",")) &&
               (all[i + 1].is(";") || all[i + 1].is(","));
    });
}

std::string_view HostScope::tokenText(const TextPlace& place) const {
    return program_.files()[place.file].tokens[place.token].text;
}

std::vector<HostScope::Range> HostScope::templateArgumentsAt(const TextPlace& call) const {
    const auto& all = program_.files()[call.file].tokens;
    const std::size_t open = call.token + 1;
    if (open >= all.size() || !all[open].is("<"))
        return {};
    return program_.listBetween(call.file, open, matchingAngle(all, open));
}

std::vector<std::pair<TextPlace, HostScope::Range>>
HostScope::callersArguments(const std::string& parameter) const {
    std::vector<std::pair<TextPlace, Range>> result;
    if (place_.function == nullptr || tooDeep())
        return result;
    const auto& templated = place_.function->templateParameters;
    const auto type = std::ranges::find(templated, parameter);
    const bool isTemplated = type != templated.end();
    const auto& parameters = place_.function->parameters;
    const auto found = std::ranges::find(parameters, parameter);
    if (!isTemplated && found == parameters.end())
        return result;
    const auto index = static_cast<std::size_t>(isTemplated ? type - templated.begin()
                                                            : found - parameters.begin());
    const auto isOther = [&](const TextPlace& call) {
        const auto& only = settings_.call;
        if (!only || tokenText(*only) != place_.function->name)
            return false;
        return call.file != only->file || call.token != only->token;
    };
    for (const auto& call : program_.callsOf(place_.function->name)) {
        // A kernel's call is of another function with that name.
        if (call.function == place_.function || call.function->isKernel || isOther(call))
            continue;
        const auto arguments = isTemplated ? templateArgumentsAt(call) : program_.argumentsAt(call);
        if (index < arguments.size())
            result.emplace_back(call, arguments[index]);
    }
    if (isTemplated)
        return result;
    if (const auto& value = place_.function->defaults[index]; value.first < value.second)
        result.emplace_back(TextPlace{place_.function->file, value.first, nullptr}, value);
    return result;
}

std::optional<std::pair<TextPlace, HostScope::Definition>>
HostScope::fileScopeDefinition(const std::string& name) const {
    for (const auto& [f, declaration] : program_.variablesNamed(name)) {
        const auto& tokens = program_.files()[f].tokens;
        const HostScope scope(program_, {f, 0, nullptr}, settings_);
        const auto begin = program_.tokenAt(f, declaration->span.begin);
        for (const std::size_t i :
             program_.files()[f].tokensNamed(analysis::lastName(name), begin)) {
            if (i + 1 >= tokens.size() || tokens[i].span.begin >= declaration->span.end)
                break;
            const TextPlace place{f, i, nullptr};
            if (tokens[i + 1].is("="))
                return std::pair(place, Definition{i, {i + 2, scope.expressionEnd(i + 2)}});
            if (tokens[i + 1].is("(") || tokens[i + 1].is("{"))
                return std::pair(place,
                                 Definition{i, {i + 2, matchingBracket(tokens, i + 1)}, true});
        }
    }
    return std::nullopt;
}

std::vector<std::size_t> HostScope::returnsByLikelihood() const {
    const FunctionText& function = *place_.function;
    std::vector<std::size_t> returns;
    for (std::size_t i = function.bodyEnd; i > function.bodyBegin; --i)
        if (tokens()[i].is("return"))
            returns.push_back(i);
    for (const std::size_t i : returns | std::views::reverse) {
        const Branch branch = branchAt(i);
        if (branch == Branch::NotTaken)
            continue;
        if (branch == Branch::Taken) {
            returns.erase(std::ranges::find(returns, i));
            returns.insert(returns.begin(), i);
        }
        break;
    }
    return returns;
}

} // namespace kernelskill::engine
