#include "engine/proof/environment.h"

#include "analysis/model/known_functions.h"
#include "analysis/syntax/lexer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

using namespace analysis;

namespace {

std::uint32_t lineOf(KernelRef kernel, std::uint32_t offset) {
    return kernel.file().source->lineColumn(offset).line + 1;
}

bool isRestrict(const Token& token) {
    return token.text == "__restrict__" || token.text == "__restrict" || token.text == "restrict";
}

} // namespace

bool isUnrollPragma(const Token& token) {
    if (token.kind != TokenKind::Directive)
        return false;
    const std::vector<Token> words = lex(token.text, {1, token.span.size()});
    return words.size() >= 2 && words[0].text == "pragma" &&
           (words[1].text == "unroll" || words[1].text == "nounroll");
}

namespace {

/// Tokens between `from` and `to` without __restrict__, const and launch bounds.
std::vector<Token> withoutQualifiers(const std::vector<Token>& tokens, std::size_t from,
                                     std::size_t to) {
    std::vector<Token> kept;
    for (std::size_t i = from; i < to; ++i) {
        if (tokens[i].text == "__launch_bounds__" && i + 1 < to && tokens[i + 1].text == "(") {
            i = std::min(matchingBracket(tokens, i + 1), to - 1);
            continue;
        }
        if (!isRestrict(tokens[i]) && tokens[i].text != "const")
            kept.push_back(tokens[i]);
    }
    return kept;
}

/// The launches of the kernel whose text is in its file.
std::vector<const LaunchSite*> launchesOf(KernelRef kernel) {
    std::vector<const LaunchSite*> launches;
    for (const LaunchSite& launch : kernel.kernel.launches)
        if (!launch.fromMacro && launch.host < kernel.file().hostFunctions.size() &&
            kernel.file().hostFunctions[launch.host].file == kernel.file().file)
            launches.push_back(&launch);
    return launches;
}

/// Tokens outside of the kernel's definition, for which one token stands, and of its launches'
/// configurations. A forward declaration of the kernel loses its qualifiers.
std::vector<Token> tokensAround(KernelRef kernel) {
    const std::vector<Token> all = lex(kernel.file().source->text());
    const std::vector<const LaunchSite*> launches = launchesOf(kernel);
    std::vector<Token> around;
    for (const Token& token : all) {
        if (kernel.kernel.span.contains(token.span)) {
            if (around.empty() || around.back().text != "kernel itself")
                around.push_back({TokenKind::String, token.span, "kernel itself"});
            continue;
        }
        const bool isConfiguration = std::ranges::any_of(launches, [&](const LaunchSite* launch) {
            return launch->configurationSpan.contains(token.span);
        });
        if (!isConfiguration)
            around.push_back(token);
    }
    std::vector<Token> kept;
    for (std::size_t i = 0; i < around.size(); ++i) {
        kept.push_back(around[i]);
        const bool isCall = around[i].text == kernel.kernel.name && i + 1 < around.size() &&
                            around[i + 1].text == "(";
        if (!isCall)
            continue;
        const std::size_t close = matchingBracket(around, i + 1);
        if (close + 1 >= around.size() || around[close + 1].text != ";" || i == 0 ||
            around[i - 1].text != "void")
            continue;
        const std::vector<Token> plain = withoutQualifiers(around, i + 1, close);
        kept.insert(kept.end(), plain.begin(), plain.end());
        i = close - 1;
    }
    return kept;
}

std::vector<Token> configurationTokens(KernelRef kernel) {
    std::vector<Token> tokens;
    for (const LaunchSite* launch : launchesOf(kernel))
        for (const Token& token : lex(kernel.file().source->text(), launch->configurationSpan))
            tokens.push_back(token);
    return tokens;
}

/// Index of the first token that differs; nullopt if none does.
std::optional<std::size_t> firstDifference(const std::vector<Token>& left,
                                           const std::vector<Token>& right) {
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i)
        if (i >= left.size() || i >= right.size() || left[i].text != right[i].text ||
            left[i].kind != right[i].kind)
            return i;
    return std::nullopt;
}

std::vector<Token> bodyTokens(KernelRef kernel) {
    std::vector<Token> tokens = lex(kernel.file().source->text(), kernel.kernel.bodySpan);
    std::erase_if(tokens, isUnrollPragma);
    return tokens;
}

/// The type without const and restrict.
std::string plainType(const Type& type) {
    std::string plain;
    for (const Token& token : lex(type.canonical))
        if (token.text != "const" && !isRestrict(token))
            plain += fmt::format("{} ", token.text);
    return plain;
}

/// Whether a function of this name may be declared in one of the user's files, other than one that
/// takes its arguments by value or as const.
class Overloads {
public:
    Overloads(const FileModel& file) : file_(file) {
        for (const KernelModel& function : file.deviceFunctions)
            functions_.push_back(&function);
    }

    /// Whether the name can mean one function only, whatever is const.
    [[nodiscard]] bool isOne(std::string_view name) const {
        if (file_.userFiles.size() > 1)
            return false;
        const auto count = std::ranges::count(functions_, unqualified(name),
                                              [](const KernelModel* f) { return f->name; });
        const auto named = std::ranges::find(functions_, unqualified(name),
                                             [](const KernelModel* f) { return f->name; });
        return count == 1 && (*named)->templateParameters.empty() &&
               declarations(unqualified(name)) == 1;
    }
    [[nodiscard]] bool isUsers(std::string_view name) const {
        return std::ranges::any_of(
                   functions_,
                   [&](const KernelModel* f) { return f->name == unqualified(name); }) ||
               declarations(unqualified(name)) > 0 || file_.userFiles.size() > 1;
    }
    /// Whether a function of this name takes a reference that is not const.
    [[nodiscard]] bool takesMutable(std::string_view name) const {
        return std::ranges::any_of(functions_, [&](const KernelModel* f) {
            return f->name == name && std::ranges::any_of(f->parameters, [](const Parameter& p) {
                       return p.type.isReference && !p.type.canonical.starts_with("const ");
                   });
        });
    }

private:
    /// Places that look like a declaration: the name between a type and a bracket.
    [[nodiscard]] std::ptrdiff_t declarations(std::string_view name) const {
        const std::vector<Token> tokens = lex(file_.source->text());
        std::ptrdiff_t count = 0;
        for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
            if (tokens[i].text != name || tokens[i + 1].text != "(")
                continue;
            const Token& before = tokens[i - 1];
            const bool isWord = before.isIdentifier() && before.text != "return" &&
                                before.text != "else" && before.text != "do" &&
                                before.text != "case";
            count +=
                isWord || before.text == "*" || before.text == "&" || before.text == ">" ? 1 : 0;
        }
        return count;
    }

    const FileModel& file_;
    std::vector<const KernelModel*> functions_;
};

bool isArithmetic(const Type& type) {
    return type.pointerDepth == 0 && type.arrayExtents.empty() && type.lanes == 1 &&
           type.scalar > ScalarKind::Void && !type.isDependent && type.scalar != ScalarKind::Half &&
           type.scalar != ScalarKind::BFloat16;
}

} // namespace

std::expected<Surroundings, Unproved> compareSurroundings(KernelRef original, KernelRef candidate) {
    if (original.kernel.file != original.file().file ||
        candidate.kernel.file != candidate.file().file)
        return unproved("the kernel is defined in a header");
    if (original.kernel.fromMacro || candidate.kernel.fromMacro)
        return unproved("the kernel comes out of a macro");
    if (original.program.unsaved != candidate.program.unsaved)
        return unproved("the edit changes another file");
    const std::vector<Token> before = tokensAround(original);
    const std::vector<Token> after = tokensAround(candidate);
    if (const auto at = firstDifference(before, after)) {
        const std::uint32_t line =
            *at < after.size() ? lineOf(candidate, after[*at].span.begin) : lineOf(candidate, ~0u);
        return unproved(fmt::format("line {} outside of the kernel is changed", line));
    }
    if (original.kernel.launches.size() != candidate.kernel.launches.size() ||
        launchesOf(original).size() != launchesOf(candidate).size())
        return unproved("the number of launches is changed");
    return Surroundings{
        firstDifference(configurationTokens(original), configurationTokens(candidate)).has_value()};
}

std::expected<void, Unproved> compareHeads(KernelRef original, KernelRef candidate) {
    // A const of a template's parameters is another thing.
    const auto head = [](KernelRef kernel) {
        const std::vector<Token> tokens = lex(
            kernel.file().source->text(), {kernel.kernel.span.begin, kernel.kernel.bodySpan.begin});
        std::vector<Token> plain = withoutQualifiers(tokens, 0, tokens.size());
        for (const Token& token : tokens)
            if (token.text == "const" && token.span.begin < kernel.kernel.nameSpan.begin)
                plain.push_back(token);
        return plain;
    };
    if (firstDifference(head(original), head(candidate)))
        return unproved(fmt::format("the parameters of the kernel on line {} are changed",
                                    lineOf(candidate, candidate.kernel.nameSpan.begin)));
    const auto& before = original.kernel.parameters;
    const auto& after = candidate.kernel.parameters;
    if (before.size() != after.size())
        return unproved("the number of parameters is changed");
    for (std::size_t i = 0; i < before.size(); ++i)
        if (plainType(before[i].type) != plainType(after[i].type))
            return unproved(fmt::format("the type of {} is changed", after[i].name));
    return {};
}

bool haveSameBody(KernelRef original, KernelRef candidate) {
    return !firstDifference(bodyTokens(original), bodyTokens(candidate));
}

std::vector<std::string> conditionsOfHead(KernelRef original, KernelRef candidate) {
    std::vector<std::string> conditions;
    std::string distinct;
    const auto& before = original.kernel.parameters;
    const auto& after = candidate.kernel.parameters;
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
        if (after[i].type.isRestrict && !before[i].type.isRestrict)
            distinct += (distinct.empty() ? "" : ", ") + after[i].name;
    if (!distinct.empty())
        conditions.push_back(
            fmt::format("the memory of {} is not written through another pointer", distinct));
    const auto bound = candidate.kernel.launchBoundsThreads;
    const bool isNew = bound && (!original.kernel.launchBoundsThreads ||
                                 *original.kernel.launchBoundsThreads > *bound);
    const auto fits = [&](const LaunchSite& launch) {
        std::int64_t threads = 1;
        for (const std::int64_t extent : launch.constantBlock)
            threads *= extent;
        return !launch.constantBlock.empty() && threads > 0 && threads <= *bound;
    };
    if (isNew && (candidate.kernel.launches.empty() ||
                  !std::ranges::all_of(candidate.kernel.launches, fits)))
        conditions.push_back(fmt::format("blocks have at most {} threads", *bound));
    return conditions;
}

std::expected<void, Unproved> requireSameOverloads(KernelRef original, KernelRef candidate) {
    const FunctionBody& before = original.kernel.body;
    const FunctionBody& after = candidate.kernel.body;
    if (before.exprs.size() != after.exprs.size())
        return unproved("the two kernels are read as different trees");
    const Overloads overloads(original.file());
    const auto differs = [&](ExprId id) {
        return before.expr(id).type.canonical != after.expr(id).type.canonical;
    };
    for (ExprId id = 0; id < before.exprs.size(); ++id) {
        const Expr& expr = before.expr(id);
        const Expr& other = after.expr(id);
        const auto line = [&] { return lineOf(candidate, other.span.begin); };
        if (expr.kind != other.kind || expr.name != other.name || expr.op != other.op ||
            plainType(expr.type) != plainType(other.type))
            return unproved(fmt::format("line {} means another thing", line()));
        if (expr.children != other.children)
            return unproved("the two kernels are read as different trees");
        if (differs(id) && expr.type.pointerDepth == 0 && !isArithmetic(expr.type)) {
            std::string name = plainType(expr.type);
            name.erase(name.find_last_not_of(' ') + 1);
            if (overloads.takesMutable(name))
                return unproved(fmt::format("line {} copies what is const now", line()));
        }
        if (std::ranges::none_of(expr.children, differs))
            continue;
        if (expr.kind == ExprKind::Call) {
            const bool isKnown =
                !expr.isMethod && !overloads.isUsers(expr.name) &&
                (mathFunction(expr.name) != MathKind::None || isAtomic(expr.name) ||
                 cachedAccess(expr.name) || warpOperation(expr.name));
            if (!isKnown && !overloads.isOne(expr.name))
                return unproved(fmt::format("{} on line {} may mean another overload now that an "
                                            "argument is const",
                                            expr.name, line()));
            continue;
        }
        const bool isOperator = expr.kind == ExprKind::Binary || expr.kind == ExprKind::Unary ||
                                expr.kind == ExprKind::Subscript;
        const bool isUsers = isOperator && std::ranges::any_of(expr.children, [&](ExprId child) {
                                 const Type& type = before.expr(child).type;
                                 return differs(child) && type.pointerDepth == 0 &&
                                        type.arrayExtents.empty() && !isArithmetic(type);
                             });
        if (isUsers && (overloads.takesMutable("operator" + expr.op) ||
                        std::ranges::any_of(expr.children, [&](ExprId child) {
                            const Type& type = before.expr(child).type;
                            return type.scalar == ScalarKind::Unknown && !type.isDependent;
                        })))
            return unproved(fmt::format("operator {} on line {} may mean another overload now that "
                                        "an operand is const",
                                        expr.op, line()));
        if (expr.kind == ExprKind::Other && !expr.name.empty())
            return unproved(
                fmt::format("line {} holds {}, which is not followed", line(), expr.name));
    }
    return {};
}

} // namespace kernelskill::engine
