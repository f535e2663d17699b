#include "engine/inputs/host_scope.h"

#include "engine/inputs/name_guesses.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <ranges>

namespace kernelskill::engine {

using analysis::DeclarationKind;
using analysis::Expression;
using analysis::ExpressionKind;
using analysis::Token;
using analysis::Value;

namespace {

constexpr std::int64_t minRoot = 64;

bool isLiteral(const Expression& expression) {
    if (expression.kind == ExpressionKind::Name || expression.kind == ExpressionKind::Member ||
        expression.kind == ExpressionKind::Call || expression.kind == ExpressionKind::Opaque)
        return false;
    return std::ranges::all_of(expression.children, isLiteral);
}

/// True for the usual names of a division that rounds up.
bool isDivideUp(const std::string& name) {
    std::string letters;
    for (const char c : name) {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0)
            letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    static constexpr std::array<std::string_view, 11> names = {
        "cdiv",    "ceildiv",   "divup",    "idivup",     "updiv",     "divroundup",
        "divceil", "getblocks", "iceildiv", "ceildivide", "roundupdiv"};
    return std::ranges::find(names, letters) != names.end();
}

} // namespace

template <typename Read>
std::invoke_result_t<Read, const HostScope&, const Expression&>
HostScope::fromDefinitions(const std::string& macro, const Read& read) const {
    const std::vector<analysis::Macro>& definitions = program_.macros().all(macro);
    const auto first = [&](const HostScope& scope) {
        std::invoke_result_t<Read, const HostScope&, const Expression&> result;
        for (const analysis::Macro& definition : definitions) {
            if (result || definition.isFunctionLike)
                continue;
            if (const auto body = analysis::parseExpression(definition.body))
                result = read(scope, *body);
        }
        return result;
    };
    if (definitions.size() > 1 && settings_.mayGuess) {
        EvaluationSettings settings = settings_;
        settings.mayGuess = false;
        HostScope scope(program_, place_, settings);
        scope.depth_ = depth_ + 1;
        auto known = first(scope);
        settings_.steps = settings.steps;
        if (known)
            return known;
    }
    return first(at(place_));
}

HostScope HostScope::at(TextPlace place) const {
    HostScope scope(program_, place, settings_);
    scope.depth_ = depth_ + 1;
    return scope;
}

std::size_t HostScope::expressionEnd(std::size_t begin) const {
    const auto& all = tokens();
    for (auto i = begin; i < all.size(); ++i) {
        const auto& token = all[i];
        if (token.is("(") || token.is("[") || token.is("{"))
            i = matchingBracket(all, i);
        else if (token.is(";") || token.is(",") || token.is(")") || token.is("}"))
            return i;
    }
    return all.size();
}

std::optional<Value> HostScope::value(std::size_t begin, std::size_t end) const {
    const auto expression = parseExpression(tokens(), begin, end);
    return expression && !tooDeep() ? evaluate(*expression, *this) : std::nullopt;
}

std::optional<std::array<std::int64_t, 3>> HostScope::extent(std::size_t begin,
                                                             std::size_t end) const {
    const auto expression = parseExpression(tokens(), begin, end);
    return expression ? extent(*expression) : std::nullopt;
}

std::optional<std::array<std::int64_t, 3>> HostScope::extent(const Expression& expression) const {
    if (tooDeep())
        return std::nullopt;
    const bool constructor = expression.kind == ExpressionKind::List ||
                             (expression.kind == ExpressionKind::Call &&
                              (expression.text == "dim3" || expression.text == "uint3" ||
                               expression.text == "make_uint3"));
    if (constructor) {
        std::array<std::int64_t, 3> result = {1, 1, 1};
        const std::size_t first = expression.kind == ExpressionKind::Call ? 1 : 0;
        if (expression.children.size() == first + 1 && first == 1) { // dim3(other)
            if (const auto copied = extent(expression.children[1]))
                return copied;
        }
        for (std::size_t i = first; i < expression.children.size() && i - first < 3; ++i) {
            const auto component = count(expression.children[i]);
            if (!component)
                return std::nullopt;
            result[i - first] = component->asInteger();
        }
        return result;
    }
    if (expression.kind == ExpressionKind::Cast)
        return extent(expression.children[0]);
    if (expression.kind == ExpressionKind::Conditional) {
        const auto condition = evaluate(expression.children[0], *this);
        return extent(expression.children[condition && condition->asDouble() == 0 ? 2 : 1]);
    }
    if (expression.kind == ExpressionKind::Name && !isGiven(expression.text)) {
        if (const auto named = namedExtent(expression.text))
            return named;
    }
    if (expression.kind == ExpressionKind::Call) {
        for (const auto* function : program_.functionsNamed(analysis::lastName(expression.text))) {
            HostScope scope = calledWith(*function, expression);
            for (const std::size_t i : scope.returnsByLikelihood()) {
                scope.place_.token = i;
                if (const auto result = scope.extent(i + 1, scope.expressionEnd(i + 1)))
                    return result;
            }
        }
    }
    const auto scalar = count(expression);
    if (!scalar)
        return std::nullopt;
    return std::array<std::int64_t, 3>{scalar->asInteger(), 1, 1};
}

std::optional<Value> HostScope::count(const Expression& expression) const {
    if (expression.kind == ExpressionKind::Name && settings_.log != nullptr)
        settings_.log->counts.insert(analysis::lastName(expression.text));
    return evaluate(expression, *this);
}

std::optional<std::array<std::int64_t, 3>>
HostScope::extentOf(const std::string& name, const Definition& definition, Branch branch) const {
    if (!definition.change.empty()) {
        const auto changed = valueOf(name, definition, branch);
        return changed ? std::optional(std::array<std::int64_t, 3>{changed->asInteger(), 1, 1})
                       : std::nullopt;
    }
    const auto scope = at({place_.file, definition.token, place_.function});
    const auto [first, last] = definition.value;
    if (!definition.isConstruction) {
        const auto result = scope.extent(first, last);
        noteRootExtent(name, definition.value, result);
        return result;
    }
    Expression list{ExpressionKind::List, {}, {}, {}};
    for (const auto& [begin, end] : program_.listBetween(place_.file, first - 1, last)) {
        auto part = parseExpression(tokens(), begin, end);
        list.children.push_back(part ? std::move(*part) : Expression{});
    }
    return list.children.size() == 1 ? scope.extent(list.children[0]) : scope.extent(list);
}

std::optional<std::array<std::int64_t, 3>> HostScope::namedExtent(const std::string& name) const {
    bool isSkipped = false;
    for (const auto& definition : definitionsOf(name)) {
        const Branch branch = branchAt(definition.token);
        if (branch == Branch::NotTaken)
            continue;
        if (auto result = extentOf(name, definition, branch)) {
            assignMembers(name, definition.token, *result);
            if (isSkipped)
                noteSkipped();
            return result;
        }
        isSkipped = true;
    }
    for (const auto& [place, range] : callersArguments(name)) {
        const auto scope = at(place);
        if (const auto result = scope.extent(range.first, range.second)) {
            scope.noteRootExtent(name, range, result);
            return result;
        }
    }
    const auto fromMacro =
        fromDefinitions(name, [&](const HostScope& scope, const Expression& body) {
            const auto result = scope.extent(body);
            if (result)
                noteRoot(name, body, Value::of((*result)[0]));
            return result;
        });
    if (fromMacro)
        return fromMacro;
    if (const auto global = fileScopeDefinition(name))
        return at(global->first).extentOf(name, global->second, Branch::Taken);
    // `dim3 grid;` and its members set one by one.
    std::array<std::int64_t, 3> members = {0, 1, 1};
    assignMembers(name, place_.function == nullptr ? 0 : place_.function->bodyBegin, members);
    return members[0] > 0 ? std::optional(members) : std::nullopt;
}

void HostScope::assignMembers(const std::string& name, std::size_t from,
                              std::array<std::int64_t, 3>& extent) const {
    const auto& all = tokens();
    std::array<bool, 3> isSkipped{};
    for (const std::size_t i : file().tokensNamed(name, from)) {
        if (i + 4 >= place_.token)
            break;
        if (!(all[i + 1].is(".") || all[i + 1].is("->")) || !all[i + 3].is("="))
            continue;
        const auto axis = all[i + 2].is("x")   ? 0u
                          : all[i + 2].is("y") ? 1u
                          : all[i + 2].is("z") ? 2u
                                               : 3u;
        if (axis > 2)
            continue;
        if (branchAt(i) == Branch::NotTaken)
            continue;
        const auto scope = at({place_.file, i, place_.function});
        const auto assigned = scope.value(i + 4, expressionEnd(i + 4));
        if (assigned)
            extent[axis] = assigned->asInteger();
        isSkipped[axis] = !assigned;
    }
    if (std::ranges::any_of(isSkipped, std::identity{}))
        noteSkipped();
}

void HostScope::noteRoot(const std::string& name, const Expression& expression,
                         const Value& value) const {
    if (settings_.log != nullptr && !value.isFloating && value.integer >= minRoot &&
        isLiteral(expression))
        settings_.log->roots.emplace(name, value.integer);
}

void HostScope::noteSkipped() const {
    if (settings_.log != nullptr)
        settings_.log->usesEarlierValue = true;
}

void HostScope::noteRootExtent(const std::string& name, Range range,
                               const std::optional<std::array<std::int64_t, 3>>& extent) const {
    const auto expression =
        extent ? parseExpression(tokens(), range.first, range.second) : std::nullopt;
    if (expression)
        noteRoot(name, *expression, Value::of((*extent)[0]));
}

bool HostScope::isGiven(const std::string& name) const {
    return bindings_.contains(name) || settings_.overrides.contains(name);
}

std::optional<Value> HostScope::valueOf(const std::string& name, const Definition& definition,
                                        Branch branch) const {
    if (!definition.change.empty())
        return branch == Branch::Taken ? changedValue(name, definition) : std::nullopt;
    const auto scope = at({place_.file, definition.token, place_.function});
    const auto expression =
        parseExpression(tokens(), definition.value.first, definition.value.second);
    if (!expression || scope.tooDeep())
        return std::nullopt;
    const auto result = evaluate(*expression, scope);
    if (result)
        noteRoot(name, *expression, *result);
    return result;
}

std::optional<Value> HostScope::fromMacro(const std::string& name) const {
    return fromDefinitions(name, [&](const HostScope& scope, const Expression& body) {
        const auto result = evaluate(body, scope);
        if (result)
            noteRoot(name, body, *result);
        return result;
    });
}

std::optional<std::int64_t> HostScope::answerOfDevice(const std::string& name) const {
    const auto answer = deviceAnswer(program_, place_, name, settings_.device);
    if (!answer)
        return std::nullopt;
    if (settings_.log != nullptr)
        settings_.log->asksDevice = true;
    if (const auto* number = std::get_if<std::int64_t>(&*answer))
        return *number;
    const auto& [begin, end] = std::get<BlockSizeTokens>(*answer);
    const auto threads = value(begin, end);
    constexpr std::int64_t usualThreads = 256;
    return residentBlocks(threads ? threads->asInteger() : usualThreads, settings_.device);
}

std::optional<Value> HostScope::fromText(const std::string& name) const {
    if (const auto answer = answerOfDevice(name))
        return Value::of(*answer);
    bool isSkipped = false;
    for (const auto& definition : definitionsOf(name)) {
        const Branch branch = branchAt(definition.token);
        if (branch == Branch::NotTaken)
            continue;
        const auto result = valueOf(name, definition, branch);
        // `int most = -1;` before what finds the number is no size.
        if (result && (!isSkipped || result->asDouble() > 0)) {
            if (isSkipped)
                noteSkipped();
            return result;
        }
        isSkipped = true;
    }
    for (const auto& [place, range] : callersArguments(name)) {
        const auto scope = at(place);
        if (const auto result = scope.value(range.first, range.second)) {
            if (const auto expression = parseExpression(scope.tokens(), range.first, range.second))
                noteRoot(name, *expression, *result);
            return result;
        }
    }
    if (auto result = fromMacro(name))
        return result;
    if (const auto global = fileScopeDefinition(name)) {
        if (const auto result = at(global->first).valueOf(name, global->second, Branch::Taken))
            return result;
    }
    if (const auto* enumerator = program_.enumerator(name)) {
        if (enumerator->begin == enumerator->end)
            return Value::of(enumerator->plus);
        if (const auto base =
                at({enumerator->file, 0, nullptr}).value(enumerator->begin, enumerator->end))
            return Value::of(base->asInteger() + enumerator->plus);
    }
    return std::nullopt;
}

std::optional<Value> HostScope::name(const std::string& qualified) const {
    if (tooDeep())
        return std::nullopt;
    const auto name = analysis::lastName(qualified);
    if (const auto bound = bindings_.find(name); bound != bindings_.end())
        return bound->second;
    if (const auto set = settings_.overrides.find(name); set != settings_.overrides.end())
        return Value::of(set->second);
    if (const auto constant = classConstant(qualified))
        return constant;
    if (auto result = fromText(name))
        return result;
    if (name == "warpSize" || name == "WARP_SIZE")
        return Value::of(std::int64_t{32});
    if (!settings_.mayGuess)
        return std::nullopt;
    const auto length = settings_.lengths.find(name);
    const auto guess = length != settings_.lengths.end() ? guessLength(name, length->second)
                       : place_.function != nullptr ? guessAmong(name, place_.function->parameters)
                                                    : guessFromName(name);
    if (settings_.log != nullptr) {
        settings_.log->guesses.emplace(name, guess.integer);
        if (guess.isExtent)
            settings_.log->roots.emplace(name, guess.integer);
    }
    return Value::of(guess.integer);
}

std::optional<Value> HostScope::assignedMember(const std::string& object,
                                               const std::string& member) const {
    const auto matches = [&](const std::vector<Token>& all, std::size_t i) {
        return i >= 2 && i + 1 < all.size() && (all[i - 1].is(".") || all[i - 1].is("->")) &&
               all[i + 1].is("=") && (object.empty() || all[i - 2].is(object));
    };
    if (place_.function != nullptr) {
        for (const std::size_t i :
             file().tokensNamed(member, 0, place_.token) | std::views::reverse) {
            if (i < place_.function->bodyBegin + 2)
                break;
            if (!matches(tokens(), i))
                continue;
            if (auto result =
                    at({place_.file, i - 2, place_.function}).value(i + 2, expressionEnd(i + 2)))
                return result;
        }
    }
    for (std::size_t f = 0; f < program_.files().size(); ++f) {
        for (const std::size_t i : program_.files()[f].tokensNamed(member)) {
            const auto* function = program_.functionAt(f, i);
            if (function == nullptr || i < function->bodyBegin + 2 ||
                !matches(program_.files()[f].tokens, i))
                continue;
            const auto scope = at({f, i - 2, function});
            if (auto result = scope.value(i + 2, scope.expressionEnd(i + 2)))
                return result;
        }
    }
    return std::nullopt;
}

std::optional<Value> HostScope::member(const Expression& object, const std::string& member) const {
    if (tooDeep())
        return std::nullopt;
    if (member == "x" || member == "y" || member == "z") {
        const auto parent =
            object.kind == ExpressionKind::Name ? namedExtent(object.text) : std::nullopt;
        if (parent)
            return Value::of((*parent)[static_cast<std::size_t>(member[0] - 'x')]);
    }
    if (const auto set = settings_.overrides.find(member); set != settings_.overrides.end())
        return Value::of(set->second);
    if (auto assigned = assignedMember(baseName(object), member))
        return assigned;
    if (const auto property = deviceProperty(member, settings_.device)) {
        if (settings_.log != nullptr)
            settings_.log->asksDevice = true;
        return Value::of(*property);
    }
    if (!settings_.mayGuess)
        return std::nullopt;
    const auto guess = guessFromName(member);
    if (settings_.log != nullptr) {
        settings_.log->guesses.emplace(member, guess.integer);
        if (guess.isExtent)
            settings_.log->roots.emplace(member, guess.integer);
    }
    return Value::of(guess.integer);
}

HostScope HostScope::calledWith(const FunctionText& function, const Expression& call) const {
    HostScope scope = at({function.file, function.bodyEnd, &function});
    for (std::size_t p = 0; p < function.parameters.size() && p + 1 < call.children.size(); ++p)
        if (const auto argument = evaluate(call.children[p + 1], *this))
            scope.bindings_[function.parameters[p]] = *argument;
    return scope;
}

std::optional<Value> HostScope::functionResult(const FunctionText& function,
                                               const Expression& call) const {
    HostScope scope = calledWith(function, call);
    for (const std::size_t i : scope.returnsByLikelihood()) {
        scope.place_.token = i;
        if (const auto result = scope.value(i + 1, scope.expressionEnd(i + 1)))
            return result;
    }
    return std::nullopt;
}

std::optional<Value> HostScope::call(const Expression& call) const {
    if (tooDeep() || call.children.empty())
        return std::nullopt;
    const auto name = analysis::lastName(call.text);
    for (const auto& macro : program_.macros().all(name)) {
        if (!macro.isFunctionLike)
            continue;
        const auto body = analysis::parseExpression(macro.body);
        if (!body)
            continue;
        auto scope = at(place_);
        scope.bindings_ = bindings_;
        for (std::size_t p = 0; p < macro.parameters.size() && p + 1 < call.children.size(); ++p) {
            if (const auto argument = evaluate(call.children[p + 1], *this))
                scope.bindings_[macro.parameters[p]] = *argument;
        }
        if (const auto result = evaluate(*body, scope))
            return result;
    }
    for (const auto* function : program_.functionsNamed(name)) {
        if (function == place_.function)
            continue;
        if (const auto result = functionResult(*function, call))
            return result;
    }
    if (isDivideUp(name) && call.children.size() == 3) {
        const auto a = evaluate(call.children[1], *this);
        const auto b = evaluate(call.children[2], *this);
        if (a && b && b->asInteger() > 0)
            return Value::of((a->asInteger() + b->asInteger() - 1) / b->asInteger());
    }
    if (call.children[0].kind == ExpressionKind::Member && call.children.size() == 1)
        return member(call.children[0].children[0], call.children[0].text); // v.size(), t.numel()
    return std::nullopt;
}

std::optional<std::int64_t> HostScope::sizeOf(const std::string& type) const {
    if (const auto size = analysis::sizeOfBuiltin(type))
        return size;
    if (const auto known = classTypes_.find(type); known != classTypes_.end())
        return known->second;
    for (const auto& token : analysis::lex(type)) {
        if (const auto known = settings_.typeSizes.find(std::string(token.text));
            known != settings_.typeSizes.end())
            return known->second;
    }
    const bool templated = place_.function != nullptr &&
                           std::ranges::find(place_.function->templateParameters, type) !=
                               place_.function->templateParameters.end();
    if (templated)
        return 4; // a type parameter is taken to be float
    for (const auto& macro : program_.macros().all(type)) {
        if (const auto size = analysis::sizeOfBuiltin(macro.body))
            return size;
    }
    for (const auto& file : program_.files()) {
        for (const auto& declaration : file.declarations) {
            if (declaration.kind != DeclarationKind::Alias ||
                std::ranges::find(declaration.names, type) == declaration.names.end())
                continue;
            if (const auto size = analysis::sizeOfBuiltin(std::string_view(file.text).substr(
                    declaration.span.begin, declaration.span.size())))
                return size;
        }
    }
    return std::nullopt;
}

std::optional<std::int64_t> HostScope::allocatedBytes(std::size_t begin, std::size_t end) const {
    const auto expression = parseExpression(tokens(), begin, end);
    const auto pointer = expression ? baseName(*expression) : std::string{};
    if (pointer.empty() || tooDeep() || place_.function == nullptr)
        return std::nullopt;
    const bool offset = expression->kind == ExpressionKind::Binary;
    if (offset)
        return std::nullopt;
    // By the calls of one function, or of all.
    const auto allocationIn = [&](const FunctionText* only) -> std::optional<std::int64_t> {
        for (const AllocationText& allocation : program_.allocationsOf(pointer)) {
            const auto* function = program_.functionAt(allocation.file, allocation.token);
            if (only != nullptr && function != only)
                continue;
            if (const auto bytes = at({allocation.file, allocation.token, function})
                                       .value(allocation.bytes.first, allocation.bytes.second))
                return bytes->asInteger();
        }
        return std::nullopt;
    };
    if (const auto here = allocationIn(place_.function))
        return here;
    for (const auto& [place, range] : callersArguments(pointer)) {
        if (const auto bytes = at(place).allocatedBytes(range.first, range.second))
            return bytes;
    }
    const bool isParameter = std::ranges::find(place_.function->parameters, pointer) !=
                             place_.function->parameters.end();
    const auto isMoved = [](const Definition& definition) { return !definition.change.empty(); };
    // Else it is a global, or a member.
    const bool isLocal = isParameter || isDeclaredHere(pointer) ||
                         !std::ranges::all_of(definitionsOf(pointer), isMoved);
    return isLocal ? std::nullopt : allocationIn(nullptr);
}

} // namespace kernelskill::engine
