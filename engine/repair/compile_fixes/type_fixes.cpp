/// Fixes declarations whose type does not match the variable's use: a '*' too few or too many, a
/// const that is missing or wrong, a float as an index, an int that needs two extents.
#include "engine/repair/compile_fixes/function_tokens.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::Span;
using analysis::Token;
using analysis::TokenKind;

/// The tokens of a declared name's type, and the name itself.
struct Declarator {
    TokenRange type; ///< With attributes and const.
    std::size_t name = 0;
    bool isParameter = false;
};

bool isAttribute(std::string_view word) {
    return word == "__restrict__" || word == "__restrict" || word == "__shared__" ||
           word == "__constant__" || word == "__device__" || word == "extern";
}

/// The declarations of `name` in the tokens [begin, end).
std::vector<Declarator> declaratorsOf(const RepairContext& context, std::string_view name,
                                      TokenRange range) {
    static const std::set<std::string_view> notTypes{"return", "else", "case",
                                                     "goto",   "new",  "sizeof"};
    std::vector<Declarator> found;
    for (std::size_t index = range.begin + 1; index < range.end; ++index) {
        if (context.textAt(index) != name)
            continue;
        std::string_view behind = context.textAt(index + 1);
        if (behind == "." || behind == "->" || behind == "::")
            continue;
        std::size_t begin = index;
        while (begin > range.begin &&
               ((context.tokens[begin - 1].kind == TokenKind::Identifier &&
                 !notTypes.contains(context.textAt(begin - 1))) ||
                context.textAt(begin - 1) == "*" || context.textAt(begin - 1) == "::"))
            --begin;
        // `a * b` may be an expression instead of a pointer declaration.
        bool startsDeclaration =
            begin > 0 && (context.textAt(begin - 1) == "(" || context.textAt(begin - 1) == "," ||
                          context.textAt(begin - 1) == ";" || context.textAt(begin - 1) == "{" ||
                          context.textAt(begin - 1) == "}" ||
                          context.tokens[begin - 1].kind == TokenKind::Directive);
        bool hasType = begin < index && context.tokens[begin].kind == TokenKind::Identifier;
        if (startsDeclaration && hasType)
            found.push_back({{begin, index},
                             index,
                             context.textAt(begin - 1) == "(" || context.textAt(begin - 1) == ","});
    }
    return found;
}

std::vector<Declarator> declaratorsAround(const RepairContext& context, std::string_view name,
                                          std::uint32_t offset) {
    std::vector<Declarator> found;
    if (auto function = functionAround(context, offset)) {
        found = declaratorsOf(context, name, {function->head.begin, function->body.end});
        std::erase_if(found, [&](const Declarator& declarator) {
            return context.tokens[declarator.name].span.begin > offset;
        });
        std::ranges::reverse(found); // The nearest one is meant.
    }
    if (found.empty())
        found = declaratorsOf(context, name, {0, context.tokens.size()});
    if (found.size() > 2)
        found.resize(2);
    return found;
}

/// The names on the error's line, nearest to the error first.
std::vector<std::string> namesNear(const RepairContext& context, const Diagnostic& error) {
    TokenRange statement = statementLines(context, error.span.begin);
    std::vector<std::pair<std::uint32_t, std::string>> ranked;
    for (std::size_t index = statement.begin; index < statement.end; ++index) {
        const Token& token = context.tokens[index];
        if (token.kind != TokenKind::Identifier)
            continue;
        bool isIn = token.span.begin >= error.span.begin && token.span.begin <= error.span.end;
        std::uint32_t away = token.span.begin > error.span.begin
                                 ? token.span.begin - error.span.begin
                                 : error.span.begin - token.span.begin;
        ranked.emplace_back(isIn ? 0 : away + 1, std::string(token.text));
    }
    std::ranges::stable_sort(ranked, {}, &std::pair<std::uint32_t, std::string>::first);
    std::set<std::string> seen;
    std::vector<std::string> names;
    for (auto& [away, name] : ranked)
        if (seen.insert(name).second)
            names.push_back(std::move(name));
    constexpr std::size_t maxNames = 8;
    if (names.size() > maxNames)
        names.resize(maxNames);
    return names;
}

/// Changes `float x` to `float* x`.
std::optional<FixCandidate> asPointer(const RepairContext& context, const Declarator& declarator) {
    std::size_t last = declarator.type.end;
    while (last > declarator.type.begin && isAttribute(context.textAt(last - 1)))
        --last;
    bool isPointer = false;
    for (std::size_t index = declarator.type.begin; index < declarator.type.end; ++index)
        isPointer |= context.textAt(index) == "*";
    if (isPointer || last == declarator.type.begin)
        return std::nullopt;
    return insertion("not-a-pointer", context.tokens[last - 1].span.end, "*",
                     fmt::format("make '{}' a pointer", context.textAt(declarator.name)));
}

std::optional<FixCandidate> asValue(const RepairContext& context, const Declarator& declarator) {
    for (std::size_t index = declarator.type.begin; index < declarator.type.end; ++index)
        if (context.textAt(index) == "*")
            return FixCandidate{
                "needless-pointer",
                fmt::format("make '{}' a value, not a pointer", context.textAt(declarator.name)),
                {{context.tokens[index].span, ""}}};
    return std::nullopt;
}

std::optional<FixCandidate> withoutConst(const RepairContext& context,
                                         const Declarator& declarator) {
    for (std::size_t index = declarator.type.begin; index < declarator.type.end; ++index) {
        if (context.textAt(index) != "const" && context.textAt(index) != "constexpr")
            continue;
        Span span{context.tokens[index].span.begin, context.tokens[index + 1].span.begin};
        return FixCandidate{
            "written-const",
            fmt::format("remove 'const' from '{}'", context.textAt(declarator.name)),
            {{span, ""}}};
    }
    return std::nullopt;
}

std::optional<FixCandidate> asInteger(const RepairContext& context, const Declarator& declarator) {
    for (std::size_t index = declarator.type.begin; index < declarator.type.end; ++index)
        if (context.textAt(index) == "float" || context.textAt(index) == "double")
            return FixCandidate{"floating-index",
                                fmt::format("make '{}' an int", context.textAt(declarator.name)),
                                {{context.tokens[index].span, "int"}}};
    return std::nullopt;
}

std::optional<FixCandidate> asDim3(const RepairContext& context, const Declarator& declarator) {
    if (declarator.type.end - declarator.type.begin != 1)
        return std::nullopt;
    return FixCandidate{"extent-type",
                        fmt::format("make '{}' a dim3", context.textAt(declarator.name)),
                        {{context.tokens[declarator.type.begin].span, "dim3"}}};
}

using Change = std::optional<FixCandidate> (*)(const RepairContext&, const Declarator&);

/// Applies `change` to the declarations of names near the error.
void addChanges(const RepairContext& context, const Diagnostic& error, Change change,
                std::vector<FixCandidate>& candidates) {
    for (const std::string& name : namesNear(context, error))
        for (const Declarator& declarator : declaratorsAround(context, name, error.span.begin))
            if (auto candidate = change(context, declarator))
                candidates.push_back(std::move(*candidate));
}

/// Makes a variable const that device code needs as a constant: `int n = 16; ... float a[n];`.
void addConstants(const RepairContext& context, const Diagnostic& error,
                  std::vector<FixCandidate>& candidates) {
    std::vector<std::string> names = namesNear(context, error);
    if (error.message.starts_with("reference to __host__ variable"))
        if (auto name = quotedName(error.message))
            names.insert(names.begin(), *name);
    for (const std::string& name : names)
        for (std::size_t index = 1; index + 1 < context.tokens.size(); ++index) {
            bool isDeclared = context.textAt(index) == name && context.textAt(index + 1) == "=" &&
                              context.tokens[index - 1].kind == TokenKind::Identifier;
            // For a later declarator, the type is at the beginning of the statement.
            bool isFurther = context.textAt(index) == name && context.textAt(index + 1) == "=" &&
                             context.textAt(index - 1) == ",";
            if (!isDeclared && !isFurther)
                continue;
            std::size_t begin = index - 1;
            while (begin > 0 && context.textAt(begin - 1) != ";" &&
                   context.textAt(begin - 1) != "{" && context.textAt(begin - 1) != "}" &&
                   context.textAt(begin - 1) != "(" &&
                   context.tokens[begin - 1].kind != TokenKind::Directive)
                --begin;
            bool isConst = false;
            for (std::size_t word = begin; word < index; ++word)
                isConst |= context.textAt(word) == "const" || context.textAt(word) == "constexpr" ||
                           isAttribute(context.textAt(word));
            if (!isConst)
                candidates.push_back(insertion("not-constant", context.tokens[begin].span.begin,
                                               "constexpr ",
                                               fmt::format("make '{}' a constant", name)));
        }
}

/// For a pointer to const that is passed for a pointer to writable memory.
void addConstOfParameters(const RepairContext& context, const Diagnostic& error,
                          std::vector<FixCandidate>& candidates) {
    for (const CallText& call : callsAround(context, error.span.begin))
        for (const FunctionTokens& function : functionsNamed(context, context.textAt(call.name)))
            for (std::size_t number = 0; number < function.parameters.size(); ++number) {
                const DeclaredName& parameter = function.parameters[number];
                bool isWanted = parameter.isPointer &&
                                parameter.type.find("const") == std::string::npos &&
                                number < call.arguments.size();
                if (!isWanted)
                    continue;
                FixCandidate candidate{"missing-const",
                                       fmt::format("make '{}' a pointer to const", parameter.name),
                                       {}};
                // Declarations and definition must agree.
                for (const FunctionTokens& other :
                     functionsNamed(context, context.textAt(call.name))) {
                    if (number >= other.parameters.size())
                        continue;
                    std::uint32_t place =
                        context.tokens[other.parameters[number].tokens.begin].span.begin;
                    candidate.edits.push_back({{place, place}, "const "});
                }
                candidates.push_back(std::move(candidate));
            }
}

} // namespace

std::vector<FixCandidate> typeFixes(const RepairContext& context, const Diagnostic& error) {
    std::vector<FixCandidate> candidates;
    bool isOperands = says(error, "invalid operands to binary expression");
    bool isSubscripted = says(error, "subscripted value is not") ||
                         says(error, "does not provide a subscript operator") ||
                         says(error, "restrict requires a pointer") ||
                         says(error, "indirection requires pointer operand");
    bool isConstWritten = says(error, "read-only variable is not assignable") ||
                          says(error, "const-qualified") || says(error, "returns a const value");
    bool isMismatch = says(error, "cannot initialize a") || says(error, "no viable conversion") ||
                      says(error, "no matching function") ||
                      says(error, "comparison between pointer and integer") ||
                      says(error, "incompatible") || isOperands;
    if (says(error, "excess elements in scalar initializer") ||
        says(error, "is not a structure or union"))
        addChanges(context, error, asDim3, candidates);
    if (says(error, "subscript is not an integer") || isOperands)
        addChanges(context, error, asInteger, candidates);
    if (isSubscripted)
        addChanges(context, error, asPointer, candidates);
    if (isConstWritten || says(error, "no matching function for call to 'atomic"))
        addChanges(context, error, withoutConst, candidates);
    if (isMismatch || says(error, "subscript is not an integer"))
        addChanges(context, error, asValue, candidates);
    if (says(error, "cannot initialize a parameter") || says(error, "no matching function"))
        addConstOfParameters(context, error, candidates);
    if (isMismatch && !isSubscripted)
        addChanges(context, error, asPointer, candidates);
    if (says(error, "variable length array") || says(error, "integer constant") ||
        says(error, "reference to __host__ variable") ||
        says(error, "non-type template argument") || says(error, "constant expression") ||
        says(error, "no matching function"))
        addConstants(context, error, candidates);
    return candidates;
}

} // namespace kernelskill::engine
