#include "analysis/queries/code_map.h"
#include "analysis/source/trimmed.h"
#include "analysis/syntax/lexer.h"
#include "skills/editing/code_lines.h"
#include "skills/fast-math-intrinsics/replacements.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Writer {
public:
    Writer(const SkillContext& context, const CodeMap& code,
           const std::vector<Replacement>& replacements)
        : source_(*context.file.source), code_(code), body_(code.body()),
          replacements_(replacements) {}

    std::vector<TextEdit> edits() const {
        std::vector<TextEdit> edits;
        std::uint32_t done = 0;
        for (std::size_t i = 0; i < replacements_.size(); ++i) {
            const Span span = body_.expr(replacements_[i].expr).span;
            if (span.begin < done)
                continue; // in the text of an outer one
            edits.push_back({span, text(i)});
            done = span.end;
        }
        return edits;
    }

private:
    /// The text of `span`, with the replacements in it after the one at `outer` made.
    std::string render(Span span, std::size_t outer) const {
        std::vector<TextEdit> parts;
        std::uint32_t done = span.begin;
        for (std::size_t i = outer + 1; i < replacements_.size(); ++i) {
            const Span inner = body_.expr(replacements_[i].expr).span;
            if (inner.begin < done || !span.contains(inner))
                continue;
            parts.push_back({inner, text(i)});
            done = inner.end;
        }
        return rewritten(source_, span, std::move(parts));
    }

    std::string text(std::size_t i) const {
        const Replacement& replacement = replacements_[i];
        const Expr& expr = body_.expr(replacement.expr);
        switch (replacement.kind) {
        case ReplacementKind::Function:
            return std::string(replacement.becomes) + render(argumentsOf(expr), i);
        case ReplacementKind::Tangent:
            return fmt::format("(1.0f - __fdividef(2.0f, __expf(2.0f * {}) + 1.0f))",
                               render(argumentsOf(expr), i));
        case ReplacementKind::ReciprocalRoot:
            return root(i);
        case ReplacementKind::Quotient: {
            const Span sides = operatorOf(expr);
            return fmt::format("__fdividef({}, {})", side({expr.span.begin, sides.begin}, i),
                               side({sides.end, expr.span.end}, i));
        }
        case ReplacementKind::Power:
            return power(expr);
        case ReplacementKind::Literal: {
            std::string literal{source_.slice(expr.span)};
            if (!literal.empty() && (literal.back() == 'l' || literal.back() == 'L'))
                literal.pop_back();
            return literal + 'f';
        }
        }
        return std::string(source_.slice(expr.span));
    }

    std::string root(std::size_t i) const {
        const Expr& expr = body_.expr(replacements_[i].expr);
        const std::string function =
            "rsqrtf" + render(argumentsOf(body_.expr(expr.children[1])), i);
        const Expr& numerator = body_.expr(code_.withoutCasts(expr.children[0]));
        const bool isOne = (numerator.kind == ExprKind::Floating && numerator.floating == 1.0) ||
                           (numerator.kind == ExprKind::Integer && numerator.integer == 1);
        if (isOne)
            return function;
        const Span sides = operatorOf(expr);
        return fmt::format("{} * {}", side({expr.span.begin, sides.begin}, i), function);
    }

    std::string power(const Expr& call) const {
        const std::string name{
            source_.slice(body_.expr(code_.withoutCasts(call.children[0])).span)};
        const Expr& exponent = body_.expr(code_.withoutCasts(call.children[1]));
        const bool isCube =
            exponent.kind == ExprKind::Floating ? exponent.floating == 3.0 : exponent.integer == 3;
        return isCube ? fmt::format("({0} * {0} * {0})", name) : fmt::format("({0} * {0})", name);
    }

    std::string side(Span span, std::size_t outer) const {
        const std::string text = render(span, outer);
        return std::string(analysis::trimmed(text));
    }

    /// From '(' to ')' of a call.
    Span argumentsOf(const Expr& call) const {
        for (const Token& token : lex(source_.text(), call.span))
            if (token.text == "(")
                return {token.span.begin, call.span.end};
        return call.span;
    }

    /// The '/' between the two sides.
    Span operatorOf(const Expr& quotient) const {
        const Span between{body_.expr(quotient.children[0]).span.end,
                           body_.expr(quotient.children[1]).span.begin};
        for (const Token& token : lex(source_.text(), between))
            if (token.text == "/")
                return token.span;
        return between;
    }

    const SourceText& source_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const std::vector<Replacement>& replacements_;
};

} // namespace

std::vector<TextEdit> replacementEdits(const SkillContext& context, const CodeMap& code,
                                       const std::vector<Replacement>& replacements) {
    return Writer(context, code, replacements).edits();
}

} // namespace kernelskill::skills
