#include "engine/agents/repair/function_tokens.h"

#include "engine/agents/repair/function_declarations.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Token;
using analysis::TokenKind;

std::string_view at(const RepairContext& context, std::size_t index) {
    return index < context.tokens.size() ? context.tokens[index].text : std::string_view{};
}

bool isIdentifier(const RepairContext& context, std::size_t index) {
    return index < context.tokens.size() && context.tokens[index].kind == TokenKind::Identifier;
}

/// `const float* __restrict__ x`, `float x[]`, `int n = 3`.
std::optional<DeclaredName> parameterIn(const RepairContext& context, TokenRange range) {
    std::size_t end = range.begin;
    while (end < range.end && at(context, end) != "=" && at(context, end) != "[")
        ++end;
    if (end == range.begin || !isIdentifier(context, end - 1) || end - 1 == range.begin)
        return std::nullopt;
    DeclaredName declared;
    declared.name = at(context, end - 1);
    declared.tokens = range;
    declared.type = textOf(context, {range.begin, end - 1});
    declared.isPointer = declared.type.find('*') != std::string::npos || at(context, end) == "[";
    return declared;
}

FunctionTokens functionAt(const RepairContext& context, const DeclarationTokens& declaration) {
    FunctionTokens function;
    function.name = declaration.name;
    std::size_t close = analysis::matchingBracket(context.tokens, declaration.name + 1);
    function.head = {declaration.begin, std::min(close + 1, context.tokens.size())};
    if (close >= context.tokens.size())
        return function;
    for (TokenRange range : dividedAtCommas(context, {declaration.name + 2, close}))
        if (auto parameter = parameterIn(context, range))
            function.parameters.push_back(std::move(*parameter));
    std::size_t brace = close + 1;
    while (at(context, brace) == "const" || at(context, brace) == "noexcept")
        ++brace;
    if (at(context, brace) == "{") {
        std::size_t end = analysis::matchingBracket(context.tokens, brace);
        function.body = {brace, std::min(end + 1, context.tokens.size())};
    }
    return function;
}

const std::set<std::string_view>& typeWords() {
    static const std::set<std::string_view> words{
        "float",  "double", "int",     "unsigned", "half",     "size_t",  "auto",
        "bool",   "char",   "long",    "short",    "dim3",     "float2",  "float3",
        "float4", "int2",   "int4",    "uint",     "uint32_t", "int32_t", "int64_t",
        "half2",  "__half", "double2", "uchar4",   "uint64_t"};
    return words;
}

} // namespace

bool FunctionTokens::isMarked(const RepairContext& context, std::string_view attribute) const {
    for (std::size_t index = head.begin; index < name; ++index)
        if (at(context, index) == attribute)
            return true;
    return false;
}

std::vector<FunctionTokens> functionsNamed(const RepairContext& context, std::string_view name) {
    std::vector<FunctionTokens> functions;
    for (const DeclarationTokens& declaration : declarationsOf(context, name))
        functions.push_back(functionAt(context, declaration));
    return functions;
}

std::optional<FunctionTokens> functionAround(const RepairContext& context, std::uint32_t offset) {
    std::optional<FunctionTokens> found;
    static const std::set<std::string_view> notNames{"if", "for", "while", "switch", "return"};
    for (std::size_t index = 0; index + 1 < context.tokens.size(); ++index) {
        if (context.tokens[index].span.begin > offset)
            break;
        bool mayBeName = isIdentifier(context, index) && at(context, index + 1) == "(" &&
                         !notNames.contains(at(context, index));
        if (!mayBeName)
            continue;
        FunctionTokens function = functionAt(context, declarationAround(context, index));
        bool isAround = !function.body.isEmpty() && function.head.begin <= index &&
                        offset < context.tokens[function.body.end - 1].span.end;
        if (isAround)
            return function;
        if (!function.body.isEmpty())
            index = function.body.end - 1;
    }
    return found;
}

std::vector<DeclaredName> namesBefore(const RepairContext& context, const FunctionTokens& function,
                                      std::uint32_t offset) {
    std::vector<DeclaredName> names = function.parameters;
    for (std::size_t index = function.body.begin + 1; index + 1 < function.body.end; ++index) {
        if (context.tokens[index].span.begin >= offset)
            break;
        // A type, '*'s and a name; then further declarators.
        bool isType = isIdentifier(context, index) &&
                      (typeWords().contains(at(context, index)) ||
                       (isIdentifier(context, index + 1) && at(context, index) != "return" &&
                        at(context, index) != "const" && at(context, index) != "else"));
        if (!isType)
            continue;
        std::string base(at(context, index));
        std::size_t next = index + 1;
        bool isFirst = true;
        while (next < function.body.end) {
            std::string type = base;
            bool isPointer = false;
            for (; at(context, next) == "*" || at(context, next) == "const" ||
                   typeWords().contains(at(context, next));
                 ++next) {
                type += at(context, next);
                isPointer |= at(context, next) == "*";
            }
            if (!isIdentifier(context, next))
                break;
            std::string_view behind = at(context, next + 1);
            bool isDeclarator = behind == "=" || behind == ";" || behind == "," || behind == "[" ||
                                behind == "(" || behind == "{" || (!isFirst && behind == ")");
            if (!isDeclarator)
                break;
            names.push_back({std::string(at(context, next)),
                             type,
                             isPointer || behind == "[",
                             {next, next + 1}});
            isFirst = false;
            // To the comma that divides declarators.
            int depth = 0;
            for (++next; next < function.body.end; ++next) {
                std::string_view text = at(context, next);
                if (depth == 0 && (text == "," || text == ";" || text == ")"))
                    break;
                depth += text == "(" || text == "[" || text == "{"   ? 1
                         : text == ")" || text == "]" || text == "}" ? -1
                                                                     : 0;
            }
            if (at(context, next) != ",")
                break;
            ++next;
        }
        index = std::max(index, next - 1);
    }
    return names;
}

std::optional<CallText> callAt(const RepairContext& context, std::size_t name) {
    if (!isIdentifier(context, name))
        return std::nullopt;
    CallText call;
    call.name = name;
    std::size_t next = name + 1;
    if (at(context, next) == "<") {
        int depth = 0;
        std::size_t end = next;
        for (; end < context.tokens.size() && at(context, end) != ";"; ++end) {
            depth += at(context, end) == "<" ? 1 : at(context, end) == ">" ? -1 : 0;
            if (depth == 0)
                break;
        }
        if (at(context, end) != ">")
            return std::nullopt;
        call.templates = {next, end + 1};
        next = end + 1;
    }
    if (at(context, next) == "<<<") {
        std::size_t end = next;
        while (end < context.tokens.size() && at(context, end) != ">>>" && at(context, end) != ";")
            ++end;
        if (at(context, end) != ">>>")
            return std::nullopt;
        call.configuration = {next, end + 1};
        next = end + 1;
    }
    if (at(context, next) != "(")
        return std::nullopt;
    call.open = next;
    call.close = analysis::matchingBracket(context.tokens, next);
    if (call.close >= context.tokens.size())
        return std::nullopt;
    call.arguments = dividedAtCommas(context, {call.open + 1, call.close});
    return call;
}

std::vector<CallText> callsAround(const RepairContext& context, std::uint32_t offset) {
    TokenRange statement = statementLines(context, offset);
    std::vector<CallText> calls;
    for (std::size_t index = statement.begin; index < statement.end; ++index) {
        auto call = callAt(context, index);
        if (call && context.tokens[call->name].span.begin <= offset &&
            offset < context.tokens[call->close].span.end + 1)
            calls.push_back(std::move(*call));
    }
    std::ranges::reverse(calls);
    return calls;
}

analysis::Span spanOf(const RepairContext& context, TokenRange range) {
    if (range.isEmpty())
        return {};
    return {context.tokens[range.begin].span.begin, context.tokens[range.end - 1].span.end};
}

std::string_view textOf(const RepairContext& context, TokenRange range) {
    return range.isEmpty() ? std::string_view{} : context.slice(spanOf(context, range));
}

std::vector<TokenRange> dividedAtCommas(const RepairContext& context, TokenRange range) {
    std::vector<TokenRange> parts;
    std::size_t begin = range.begin;
    int depth = 0;
    for (std::size_t index = range.begin; index <= range.end; ++index) {
        bool isEnd = index == range.end || (depth == 0 && at(context, index) == ",");
        if (isEnd) {
            if (index > begin)
                parts.push_back({begin, index});
            begin = index + 1;
            continue;
        }
        std::string_view text = at(context, index);
        depth += text == "(" || text == "[" || text == "{"   ? 1
                 : text == ")" || text == "]" || text == "}" ? -1
                                                             : 0;
    }
    return parts;
}

TokenRange statementLines(const RepairContext& context, std::uint32_t offset) {
    if (context.tokens.empty())
        return {};
    auto endsLine = [&](std::size_t index) {
        const Token& token = context.tokens[index];
        bool isLast = index + 1 == context.tokens.size() ||
                      context.lineOf(token.span.begin) !=
                          context.lineOf(context.tokens[index + 1].span.begin);
        bool isEnd = token.kind == TokenKind::Directive || token.text == ";" || token.text == "{" ||
                     token.text == "}" || token.text == ":";
        return isLast && isEnd;
    };
    std::size_t begin = std::min(context.tokenAt(offset), context.tokens.size() - 1);
    std::size_t end = begin;
    while (begin > 0 && !endsLine(begin - 1))
        --begin;
    while (end + 1 < context.tokens.size() && !endsLine(end))
        ++end;
    return {begin, end + 1};
}

} // namespace kernelskill::engine
