/// Fixes mistakes specific to CUDA: threadIdx without an axis, #pragma unroll away from its loop,
/// half operands among floats.
#include "analysis/model/known_functions.h"
#include "engine/repair/compile_fixes/function_tokens.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::Span;
using analysis::TokenKind;

/// For `int i = threadIdx;`: takes the axis of its neighbours in the expression, else x.
void addAxes(const RepairContext& context, const Diagnostic& error,
             std::vector<FixCandidate>& candidates) {
    TokenRange statement = statementLines(context, error.span.begin);
    std::string axes;
    for (std::size_t index = statement.begin; index + 2 < statement.end; ++index)
        if (analysis::isBuiltinIndex(context.textAt(index)) && context.textAt(index + 1) == "." &&
            axes.find(context.textAt(index + 2)) == std::string::npos)
            axes += context.textAt(index + 2);
    for (char axis : std::string_view("xyz"))
        if (axes.find(axis) == std::string::npos)
            axes += axis;
    for (std::size_t index = statement.begin; index < statement.end; ++index) {
        if (!analysis::isBuiltinIndex(context.textAt(index)) || context.textAt(index + 1) == ".")
            continue;
        for (char axis : axes)
            candidates.push_back(insertion("missing-axis", context.tokens[index].span.end,
                                           fmt::format(".{}", axis),
                                           fmt::format("insert '.{}'", axis), Ladder::Axis));
    }
}

/// Moves the pragma to the next loop, or removes it.
void addPragmaMoves(const RepairContext& context, const Diagnostic& error,
                    std::vector<FixCandidate>& candidates) {
    // The error points at the statement after the pragma, or at the pragma.
    std::size_t pragma = std::min(context.tokenAt(error.span.begin), context.tokens.size() - 1);
    while (pragma > 0 && !(context.tokens[pragma].kind == TokenKind::Directive &&
                           context.textAt(pragma).find("unroll") != std::string_view::npos))
        --pragma;
    if (context.tokens[pragma].kind != TokenKind::Directive)
        return;
    Span line = context.tokens[pragma].span;
    std::string text(context.slice(line));
    text.erase(text.find_last_not_of("\r\n") + 1);
    if (line.end < context.text.size() && context.text[line.end] == '\n')
        ++line.end;
    int depth = 0;
    for (std::size_t index = pragma + 1; index < context.tokens.size() && depth >= 0; ++index) {
        std::string_view word = context.textAt(index);
        depth += word == "{" ? 1 : word == "}" ? -1 : 0;
        if (word != "for" && word != "while" && word != "do")
            continue;
        std::uint32_t place = context.tokens[index].span.begin;
        std::string indentation(context.indentationOf(context.lineOf(place)), ' ');
        candidates.push_back({"misplaced-pragma",
                              "move '#pragma unroll' to the loop",
                              {{line, ""}, {{place, place}, text + "\n" + indentation}}});
        break;
    }
    candidates.push_back({"misplaced-pragma", fmt::format("remove '{}'", text), {{line, ""}}});
}

/// For `h * x` with a half and a float: converts the half.
void addConversions(const RepairContext& context, const Diagnostic& error,
                    std::vector<FixCandidate>& candidates) {
    bool isBfloat = says(error, "bfloat16");
    bool isHalf = says(error, "half");
    if (!isBfloat && !isHalf)
        return;
    std::string_view conversion = isBfloat ? "__bfloat162float" : "__half2float";
    auto first = quotedName(error.message, 1).value_or("");
    bool isLeft = first.find(isBfloat ? "bfloat16" : "half") != std::string::npos ||
                  first.find("floatX") != std::string::npos;
    std::size_t middle = context.tokenAt(error.span.begin);
    // The error points at the operator or covers both operands.
    auto isArithmetic = [&](std::size_t index) {
        std::string_view text = context.textAt(index);
        return text == "+" || text == "-" || text == "*" || text == "/" || text == "+=" ||
               text == "*=" || text == "-=" || text == "<" || text == ">";
    };
    std::vector<std::size_t> operators;
    TokenRange statement = statementLines(context, error.span.begin);
    for (std::size_t index = statement.begin; index < statement.end; ++index)
        if (isArithmetic(index))
            operators.push_back(index);
    std::ranges::stable_sort(operators, {}, [&](std::size_t index) {
        return index > middle ? index - middle : middle - index;
    });
    auto wrap = [&](TokenRange operand) {
        Span span = spanOf(context, operand);
        candidates.push_back({"half-conversion",
                              fmt::format("convert '{}' with {}", context.slice(span), conversion),
                              {{{span.begin, span.begin}, fmt::format("{}(", conversion)},
                               {{span.end, span.end}, ")"}}});
    };
    auto before = [&](std::size_t index) {
        std::size_t begin = index;
        while (begin > statement.begin) {
            std::string_view text = context.textAt(begin - 1);
            if (text == "]" || text == ")") {
                int depth = 0;
                do {
                    --begin;
                    depth += context.textAt(begin) == "]" || context.textAt(begin) == ")"   ? 1
                             : context.textAt(begin) == "[" || context.textAt(begin) == "(" ? -1
                                                                                            : 0;
                } while (depth > 0 && begin > statement.begin);
                continue;
            }
            bool isPart = context.tokens[begin - 1].kind == TokenKind::Identifier || text == "." ||
                          text == "->";
            if (!isPart)
                break;
            --begin;
        }
        return TokenRange{begin, index};
    };
    auto behind = [&](std::size_t index) {
        std::size_t end = index + 1;
        while (end < statement.end) {
            std::string_view text = context.textAt(end);
            if (text == "[" || text == "(") {
                end = std::min(analysis::matchingBracket(context.tokens, end) + 1, statement.end);
                continue;
            }
            bool isPart =
                context.tokens[end].kind == TokenKind::Identifier || text == "." || text == "->";
            if (!isPart)
                break;
            ++end;
        }
        return TokenRange{index + 1, end};
    };
    for (std::size_t index : operators) {
        TokenRange left = before(index);
        TokenRange right = behind(index);
        if (isLeft && !left.isEmpty())
            wrap(left);
        if (!right.isEmpty())
            wrap(right);
        if (!isLeft && !left.isEmpty())
            wrap(left);
    }
}

} // namespace

std::vector<FixCandidate> deviceIdiomFixes(const RepairContext& context, const Diagnostic& error) {
    std::vector<FixCandidate> candidates;
    if (says(error, "dim3") || says(error, "uint3") || says(error, "__cuda_builtin"))
        addAxes(context, error, candidates);
    if (says(error, "#pragma unroll"))
        addPragmaMoves(context, error, candidates);
    if (says(error, "ambiguous"))
        addConversions(context, error, candidates);
    return candidates;
}

} // namespace kernelskill::engine
