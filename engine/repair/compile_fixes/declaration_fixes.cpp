/// Fixes variables that are used but not declared, or declared without a type.
#include "engine/repair/compile_fixes/function_tokens.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::TokenKind;

constexpr std::string_view cause = "missing-declaration";

bool isBuiltinIndex(std::string_view name) {
    return name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim";
}

/// The types with which the file declares variables of this name, most frequent first.
std::vector<std::string> typesElsewhere(const RepairContext& context, std::string_view name) {
    std::map<std::string, int> counts;
    for (std::size_t index = 1; index + 1 < context.tokens.size(); ++index) {
        if (context.textAt(index) != name ||
            context.tokens[index - 1].kind != TokenKind::Identifier)
            continue;
        std::string_view behind = context.textAt(index + 1);
        std::string_view before = context.textAt(index - 1);
        if ((behind == "=" || behind == ";" || behind == "," || behind == ")") &&
            before != "return" && before != "goto" && before != "else")
            ++counts[std::string(before)];
    }
    std::vector<std::pair<int, std::string>> ranked;
    for (const auto& [type, count] : counts)
        ranked.emplace_back(-count, type);
    std::ranges::sort(ranked);
    std::vector<std::string> types;
    for (auto& [count, type] : ranked)
        types.push_back(std::move(type));
    return types;
}

/// The type of a literal or an index; else `auto`.
std::string typeOfInitializer(const RepairContext& context, std::size_t first) {
    bool isIndex = false;
    std::size_t index = first;
    for (; index < context.tokens.size() && context.textAt(index) != ";" &&
           context.textAt(index) != ",";
         ++index)
        isIndex |= isBuiltinIndex(context.textAt(index));
    if (isIndex)
        return "int";
    if (index != first + 1 || context.tokens[first].kind != TokenKind::Number)
        return "auto";
    std::string_view number = context.textAt(first);
    bool isHex = number.starts_with("0x");
    if (!isHex && number.find_first_of(".e") != std::string_view::npos)
        return number.ends_with('f') || number.ends_with('F') ? "float" : "double";
    return number.find_first_not_of("0123456789") == std::string_view::npos || isHex ? "int"
                                                                                     : "auto";
}

/// Adds the type before `i = 0;` and `for (i = 0; ...)`.
std::vector<FixCandidate> withType(const RepairContext& context, std::size_t name) {
    if (name == 0 || context.textAt(name + 1) != "=")
        return {};
    std::string_view before = context.textAt(name - 1);
    bool startsHeader = before == "(" && name >= 2 && context.textAt(name - 2) == "for";
    bool startsStatement = before == ";" || before == "{" || before == "}" || before == ")" ||
                           context.tokens[name - 1].kind == TokenKind::Directive;
    if (!startsHeader && !startsStatement)
        return {};
    std::vector<std::string> types = typesElsewhere(context, context.textAt(name));
    std::string byValue = typeOfInitializer(context, name + 2);
    types.insert(byValue == "auto" && !startsHeader ? types.end() : types.begin(), byValue);
    if (startsHeader)
        types.insert(byValue == "auto" ? types.begin() : types.end(), "int");
    types.emplace_back("auto");
    std::set<std::string> seen;
    std::vector<FixCandidate> candidates;
    for (const std::string& type : types)
        if (seen.insert(type).second)
            candidates.push_back(
                insertion(std::string(cause), context.tokens[name].span.begin, type + " ",
                          fmt::format("declare '{}' as {}", context.textAt(name), type)));
    // The first candidate that parses is the likeliest; others only differ in the type.
    for (FixCandidate& candidate : candidates)
        candidate.ladder = Ladder::Type;
    return candidates;
}

/// Declarations of `name` elsewhere, as text, that use only names known in `function`.
std::vector<std::string> declarationsElsewhere(const RepairContext& context, std::string_view name,
                                               const FunctionTokens& function) {
    std::set<std::string> known;
    for (std::size_t index = function.head.begin; index < function.body.end; ++index)
        known.emplace(context.textAt(index));
    std::vector<std::string> texts;
    for (std::size_t index = 1; index + 1 < context.tokens.size(); ++index) {
        bool isDeclared = context.textAt(index) == name &&
                          context.tokens[index - 1].kind == TokenKind::Identifier &&
                          (context.textAt(index + 1) == "=" || context.textAt(index + 1) == "[");
        if (!isDeclared || (index >= function.body.begin && index < function.body.end))
            continue;
        std::size_t begin = index - 1;
        while (begin > 0 && context.textAt(begin - 1) != ";" && context.textAt(begin - 1) != "{" &&
               context.textAt(begin - 1) != "}" && context.textAt(begin - 1) != "(" &&
               context.textAt(begin - 1) != ")" &&
               context.tokens[begin - 1].kind != TokenKind::Directive)
            --begin;
        std::size_t end = index;
        while (end < context.tokens.size() && context.textAt(end) != ";")
            ++end;
        bool isHeader = begin > 0 && context.textAt(begin - 1) == "(";
        bool isKnown = !isHeader;
        for (std::size_t word = index + 1; word < end; ++word)
            if (context.tokens[word].kind == TokenKind::Identifier &&
                !isBuiltinIndex(context.textAt(word)) && context.textAt(word - 1) != ".")
                isKnown &= known.contains(std::string(context.textAt(word)));
        if (isKnown)
            texts.push_back(std::string(textOf(context, {begin, end})) + ";");
    }
    return texts;
}

bool usesAxis(const RepairContext& context, const FunctionTokens& function, std::string_view axis) {
    for (std::size_t index = function.body.begin; index + 2 < function.body.end; ++index)
        if (isBuiltinIndex(context.textAt(index)) && context.textAt(index + 2) == axis)
            return true;
    return false;
}

/// Declarations for conventional names of a thread's position.
std::vector<std::string> conventional(const RepairContext& context, std::string_view name,
                                      const FunctionTokens& function) {
    auto global = [&](char axis) {
        return fmt::format("int {0} = blockIdx.{1} * blockDim.{1} + threadIdx.{1};", name, axis);
    };
    auto own = [&](std::string_view index, char axis) {
        return fmt::format("int {} = {}.{};", name, index, axis);
    };
    if (name == "tx" || name == "bx" || name == "ty" || name == "by" || name == "tz" ||
        name == "bz")
        return {own(name.starts_with('t') ? "threadIdx" : "blockIdx", name[1])};
    static const std::set<std::string_view> rows{"row", "y", "iy", "idy"};
    static const std::set<std::string_view> columns{"col", "column", "x", "ix", "idx_x"};
    static const std::set<std::string_view> indices{"i",   "idx",    "index", "gid", "id",
                                                    "tid", "offset", "pos",   "k",   "j"};
    bool isFlat = !usesAxis(context, function, "y") && !columns.contains(name);
    if (rows.contains(name))
        return {global(isFlat && name == "row" ? 'x' : 'y')};
    if (columns.contains(name))
        return {global('x')};
    bool usesBlock = false;
    for (std::size_t index = function.body.begin; index < function.body.end; ++index)
        usesBlock |= context.textAt(index) == "blockIdx";
    if (name == "tid" && usesBlock)
        return {own("threadIdx", 'x')};
    if (name == "lane")
        return {fmt::format("int {} = threadIdx.x % 32;", name)};
    if (name == "warp")
        return {fmt::format("int {} = threadIdx.x / 32;", name)};
    if (indices.contains(name))
        return {global('x')};
    return {};
}

/// The start of the statement, in the function's own block, that contains the first use.
std::uint32_t placeForDeclaration(const RepairContext& context, const FunctionTokens& function,
                                  std::size_t use) {
    std::size_t begin = function.body.begin + 1;
    int depth = 0;
    for (std::size_t index = function.body.begin + 1; index < use; ++index) {
        std::string_view text = context.textAt(index);
        depth += text == "{" || text == "(" ? 1 : text == "}" || text == ")" ? -1 : 0;
        bool ends =
            text == ";" || text == "}" || context.tokens[index].kind == TokenKind::Directive;
        if (depth == 0 && ends)
            begin = index + 1;
    }
    return context.tokens[begin].span.begin;
}

/// Declares a name as another kernel of the file does, or by its conventional meaning.
std::vector<FixCandidate> withDeclaration(const RepairContext& context, std::size_t name) {
    auto function = functionAround(context, context.tokens[name].span.begin);
    if (!function || !function->isMarked(context, "__global__"))
        return {};
    std::vector<std::string> texts =
        declarationsElsewhere(context, context.textAt(name), *function);
    for (std::string& text : conventional(context, context.textAt(name), *function))
        texts.push_back(std::move(text));
    std::uint32_t place = placeForDeclaration(context, *function, name);
    std::string indentation(context.indentationOf(context.lineOf(place)), ' ');
    std::vector<FixCandidate> candidates;
    for (const std::string& text : texts)
        candidates.push_back(insertion(std::string(cause), place, text + "\n" + indentation,
                                       fmt::format("declare '{}'", text)));
    return candidates;
}

} // namespace

std::vector<FixCandidate> declarationFixes(const RepairContext& context, const Diagnostic& error) {
    if (!error.message.starts_with("use of undeclared identifier") &&
        !error.message.starts_with("unknown type name"))
        return {};
    auto name = quotedName(error.message);
    std::size_t token = context.tokenAt(error.span.begin);
    if (!name || token >= context.tokens.size() || context.textAt(token) != *name)
        return {};
    auto candidates = withType(context, token);
    if (!candidates.empty())
        return candidates;
    return withDeclaration(context, token);
}

} // namespace kernelskill::engine
