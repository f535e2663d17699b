#include "engine/repair/compile_fixes/function_tokens.h"

#include "engine/repair/compile_fixes/function_declarations.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Token;
using analysis::TokenKind;

bool isIdentifier(const RepairContext& context, std::size_t index) {
    return index < context.tokens.size() && context.tokens[index].kind == TokenKind::Identifier;
}

/// Reads `const float* __restrict__ x`, `float x[]` or `int n = 3`.
std::optional<DeclaredName> parameterIn(const RepairContext& context, TokenRange range) {
    std::size_t end = range.begin;
    while (end < range.end && context.textAt(end) != "=" && context.textAt(end) != "[")
        ++end;
    if (end == range.begin || !isIdentifier(context, end - 1) || end - 1 == range.begin)
        return std::nullopt;
    DeclaredName declared;
    declared.name = context.textAt(end - 1);
    declared.tokens = range;
    declared.type = textOf(context, {range.begin, end - 1});
    declared.isPointer = declared.type.find('*') != std::string::npos || context.textAt(end) == "[";
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
    while (context.textAt(brace) == "const" || context.textAt(brace) == "noexcept")
        ++brace;
    if (context.textAt(brace) == "{") {
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
        if (context.textAt(index) == attribute)
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
        bool mayBeName = isIdentifier(context, index) && context.textAt(index + 1) == "(" &&
                         !notNames.contains(context.textAt(index));
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
                      (typeWords().contains(context.textAt(index)) ||
                       (isIdentifier(context, index + 1) && context.textAt(index) != "return" &&
                        context.textAt(index) != "const" && context.textAt(index) != "else"));
        if (!isType)
            continue;
        std::string base(context.textAt(index));
        std::size_t next = index + 1;
        bool isFirst = true;
        while (next < function.body.end) {
            std::string type = base;
            bool isPointer = false;
            for (; context.textAt(next) == "*" || context.textAt(next) == "const" ||
                   typeWords().contains(context.textAt(next));
                 ++next) {
                type += context.textAt(next);
                isPointer |= context.textAt(next) == "*";
            }
            if (!isIdentifier(context, next))
                break;
            std::string_view behind = context.textAt(next + 1);
            bool isDeclarator = behind == "=" || behind == ";" || behind == "," || behind == "[" ||
                                behind == "(" || behind == "{" || (!isFirst && behind == ")");
            if (!isDeclarator)
                break;
            names.push_back({std::string(context.textAt(next)),
                             type,
                             isPointer || behind == "[",
                             {next, next + 1}});
            isFirst = false;
            // Continue to the comma that separates declarators.
            int depth = 0;
            for (++next; next < function.body.end; ++next) {
                std::string_view text = context.textAt(next);
                if (depth == 0 && (text == "," || text == ";" || text == ")"))
                    break;
                depth += text == "(" || text == "[" || text == "{"   ? 1
                         : text == ")" || text == "]" || text == "}" ? -1
                                                                     : 0;
            }
            if (context.textAt(next) != ",")
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
    if (context.textAt(next) == "<") {
        int depth = 0;
        std::size_t end = next;
        for (; end < context.tokens.size() && context.textAt(end) != ";"; ++end) {
            depth += context.textAt(end) == "<" ? 1 : context.textAt(end) == ">" ? -1 : 0;
            if (depth == 0)
                break;
        }
        if (context.textAt(end) != ">")
            return std::nullopt;
        call.templates = {next, end + 1};
        next = end + 1;
    }
    if (context.textAt(next) == "<<<") {
        std::size_t end = next;
        while (end < context.tokens.size() && context.textAt(end) != ">>>" &&
               context.textAt(end) != ";")
            ++end;
        if (context.textAt(end) != ">>>")
            return std::nullopt;
        call.configuration = {next, end + 1};
        next = end + 1;
    }
    if (context.textAt(next) != "(")
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
        bool isEnd = index == range.end || (depth == 0 && context.textAt(index) == ",");
        if (isEnd) {
            if (index > begin)
                parts.push_back({begin, index});
            begin = index + 1;
            continue;
        }
        std::string_view text = context.textAt(index);
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
