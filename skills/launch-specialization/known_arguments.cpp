#include "skills/launch-specialization/known_arguments.h"

#include "analysis/model/integer_values.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_words.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The arguments of a call are read up to this length.
constexpr std::uint32_t maxCallLength = 2000;

bool runsInLoop(const FunctionBody& body, StmtId statement) {
    for (; statement != noId; statement = body.stmt(statement).parent) {
        const StmtKind kind = body.stmt(statement).kind;
        if (kind == StmtKind::For || kind == StmtKind::While || kind == StmtKind::Do ||
            kind == StmtKind::RangeFor)
            return true;
    }
    return false;
}

/// Whether the expression is made of numbers and constants, so that it can be a template argument.
bool isConstantExpression(const CodeMap& host, ExprId expr) {
    return std::ranges::all_of(host.expressionsBelow(expr), [&](ExprId id) {
        const Expr& part = host.body().expr(id);
        switch (part.kind) {
        case ExprKind::Integer:
        case ExprKind::Cast:
        case ExprKind::Binary:
        case ExprKind::Unary:
            return true;
        case ExprKind::Variable:
            return part.variable != noId &&
                   host.body().variable(part.variable).constantValue.has_value();
        default:
            return false;
        }
    });
}

/// Reads `5` or `-5`, also with a suffix.
std::optional<std::int64_t> literalOf(const std::vector<Token>& tokens) {
    if (tokens.empty() || tokens.size() > 2 || (tokens.size() == 2 && !tokens[0].is("-")))
        return std::nullopt;
    std::int64_t value = 0;
    const std::string_view text = tokens.back().text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
    constexpr std::string_view suffixes = "uUlL";
    if (error != std::errc{} || suffix.find_first_not_of(suffixes) != std::string_view::npos)
        return std::nullopt;
    return tokens.size() == 2 ? -value : value;
}

/// Reads calls and named numbers in the text of a file.
class HostText {
public:
    explicit HostText(std::string_view text) : text_(text) {}

    /// The value that calls of `function` pass at `position`; nullopt if none is known, or several
    /// are.
    [[nodiscard]] std::optional<std::int64_t> passedTo(const std::string& function,
                                                       std::size_t position) const {
        std::optional<std::int64_t> only;
        for (const Span name : occurrences(text_, function)) {
            const auto value = numberOf(argumentAt(name, position));
            if (value && only && *only != *value)
                return std::nullopt;
            if (value)
                only = value;
        }
        return only;
    }

private:
    /// The tokens of an argument of the call that begins with `name`; empty if it is no call.
    [[nodiscard]] std::vector<Token> argumentAt(Span name, std::size_t position) const {
        const auto size = static_cast<std::uint32_t>(text_.size());
        const std::uint32_t open = skipTrivia(text_, name.end);
        if (open >= size || text_[open] != '(')
            return {};
        const std::vector<Token> tokens = lex(text_, {open, std::min(size, open + maxCallLength)});
        const std::size_t close = matchingBracket(tokens, 0);
        std::vector<Token> argument;
        std::size_t number = 0;
        int depth = 0;
        for (std::size_t i = 1; i < close && close < tokens.size(); ++i) {
            depth += tokens[i].is("(") || tokens[i].is("{") || tokens[i].is("[") ? 1 : 0;
            depth -= tokens[i].is(")") || tokens[i].is("}") || tokens[i].is("]") ? 1 : 0;
            if (depth == 0 && tokens[i].is(","))
                ++number;
            else if (number == position)
                argument.push_back(tokens[i]);
        }
        return argument;
    }

    [[nodiscard]] std::optional<std::int64_t> numberOf(const std::vector<Token>& tokens) const {
        if (tokens.size() == 1 && tokens[0].isIdentifier())
            return namedNumber(tokens[0].text);
        return literalOf(tokens);
    }

    /// The number that `#define name 5` or `name = 5` gives a name, if there is only one of these.
    [[nodiscard]] std::optional<std::int64_t> namedNumber(std::string_view name) const {
        std::optional<std::int64_t> only;
        for (const Span place : occurrences(text_, name)) {
            const std::string_view line = lineBefore(place.begin);
            const bool isMacro = line.contains("#") && line.contains("define");
            const auto at = skipTrivia(text_, place.end);
            const bool isSet = at + 1 < text_.size() && text_[at] == '=' && text_[at + 1] != '=';
            if (!isMacro && !isSet)
                continue;
            if (only)
                return std::nullopt;
            const std::uint32_t begin = isSet ? at + 1 : place.end;
            const auto lineEnd = text_.find('\n', begin);
            const auto end = static_cast<std::uint32_t>(std::min(lineEnd, text_.size()));
            std::vector<Token> tokens = lex(text_, {begin, end});
            const auto stop = std::ranges::find_if(
                tokens, [](const Token& token) { return token.is(";") || token.is(","); });
            tokens.erase(stop, tokens.end());
            only = literalOf(tokens);
            if (!only)
                return std::nullopt;
        }
        return only;
    }

    [[nodiscard]] std::string_view lineBefore(std::uint32_t offset) const {
        const auto newline = offset == 0 ? std::string_view::npos : text_.rfind('\n', offset - 1);
        const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
        return text_.substr(begin, offset - begin);
    }

    std::string_view text_;
};

/// Returns the number that a pinned launch of the kernel gives a parameter, as in
/// `// kernelskill: launch k<<<…>>>(width=5)`.
std::optional<std::int64_t> pinnedValue(const SkillContext& context, const std::string& parameter) {
    constexpr std::string_view pin = "kernelskill: launch ";
    const std::string_view text = context.file.source->text();
    for (auto at = text.find(pin); at != std::string_view::npos; at = text.find(pin, at + 1)) {
        const std::string_view line = text.substr(at + pin.size(), text.find('\n', at) - at);
        const auto list = line.find(">>>(");
        if (!line.starts_with(context.kernel.name) || list == std::string_view::npos)
            continue;
        for (const Span name : occurrences(line, parameter)) {
            if (name.begin < list || name.end >= line.size() || line[name.end] != '=')
                continue;
            const auto end = line.find_first_of(",)\r\n", name.end);
            const std::string_view value =
                line.substr(name.end + 1, end == std::string_view::npos ? end : end - name.end - 1);
            return literalOf(lex(value));
        }
    }
    return std::nullopt;
}

/// Returns the first value of a local that other statements, outside of loops, may replace, as in
/// `int width = 5; if (argc > 1) width = atoi(argv[1]);`.
std::optional<std::int64_t> valueAtFirst(const CodeMap& host, VariableId id) {
    const Variable& variable = host.body().variable(id);
    if (variable.storage != Storage::Local || variable.init == noId)
        return std::nullopt;
    for (const ExprId use : host.uses(id)) {
        if (!host.isWrite(use))
            continue;
        const ExprId around = host.parent(use);
        const bool isSet = around != noId && host.body().expr(around).kind == ExprKind::Binary &&
                           host.body().expr(around).op == "=";
        if (!isSet || runsInLoop(host.body(), host.statement(use)))
            return std::nullopt;
    }
    return host.constantValue(variable.init);
}

class ValuesWith : public IntegerValues {
public:
    ValuesWith(const CodeMap& code, const GivenValues& given)
        : IntegerValues(code.body()), code_(code), given_(given) {}

private:
    [[nodiscard]] ExprId fixedValue(VariableId id) const override {
        const Variable& variable = body().variable(id);
        const bool isFixed = variable.type.scalar < ScalarKind::Half &&
                             variable.storage == Storage::Local && !code_.isEverWritten(id);
        return isFixed ? variable.init : noId;
    }
    [[nodiscard]] std::optional<std::int64_t> leaf(const Expr& expr, int) const override {
        if (expr.kind != ExprKind::Variable || expr.variable == noId)
            return std::nullopt;
        const auto found = given_.find(expr.variable);
        return found == given_.end() ? std::nullopt : std::optional(found->second);
    }

    const CodeMap& code_;
    const GivenValues& given_;
};

} // namespace

std::optional<KnownArgument> knownArgument(const SkillContext& context, const LaunchSite& launch,
                                           std::size_t parameter) {
    if (launch.host >= context.file.hostFunctions.size() || parameter >= launch.arguments.size())
        return std::nullopt;
    const CodeMap& host = context.shared().host(launch.host);
    const ExprId argument = launch.arguments[parameter];
    if (const auto value = FixedValues(host).value(argument))
        return KnownArgument{*value, isConstantExpression(host, argument)};
    std::optional<std::int64_t> value =
        pinnedValue(context, context.kernel.parameters[parameter].name);
    const VariableId variable = host.namedVariable(argument);
    if (!value && variable != noId)
        value = valueAtFirst(host, variable);
    // Parameters are the first variables.
    if (!value && variable != noId &&
        host.body().variable(variable).storage == Storage::Parameter &&
        !host.isEverWritten(variable))
        value = HostText(context.file.source->text())
                    .passedTo(context.file.hostFunctions[launch.host].name, variable);
    return value ? std::optional(KnownArgument{*value, false}) : std::nullopt;
}

std::optional<std::int64_t> valueWith(const CodeMap& code, const GivenValues& given, ExprId expr) {
    return ValuesWith(code, given).value(expr);
}

std::optional<std::int64_t> roundsWith(const CodeMap& code, const GivenValues& given,
                                       const Loop& loop) {
    if (loop.tripCount)
        return loop.tripCount;
    if (loop.inductionVariable == noId)
        return std::nullopt;
    if (loop.tripCountExpression) {
        std::map<Symbol, std::int64_t> values;
        for (const auto& [variable, value] : given)
            values[{SymbolKind::Parameter, variable}] = value;
        if (const auto rounds = loop.tripCountExpression->evaluate(values))
            return std::max<std::int64_t>(0, *rounds);
    }
    const ValuesWith values(code, given);
    const auto first = values.value(loop.lowerBound);
    const auto bound = values.value(loop.upperBound);
    if (!first || !bound || !loop.step || *loop.step == 0)
        return std::nullopt;
    const bool isUp = loop.comparison == "<" || loop.comparison == "<=";
    const bool isDown = loop.comparison == ">" || loop.comparison == ">=";
    if ((isUp && *loop.step < 0) || (isDown && *loop.step > 0) || (!isUp && !isDown))
        return std::nullopt;
    const std::int64_t distance = isUp ? *bound - *first : *first - *bound;
    const std::int64_t step = isUp ? *loop.step : -*loop.step;
    const std::int64_t last = loop.comparison.size() == 2 ? 1 : 0;
    return std::max<std::int64_t>(0, (distance + last + step - 1) / step);
}

} // namespace kernelskill::skills
