#include "analysis/queries/code_map.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_layout.h"
#include "skills/editing/code_lines.h"
#include "skills/loop-unrolling/accumulators.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Splitter {
public:
    Splitter(const SkillContext& context, const CodeMap& code, const Loop& loop,
             const std::vector<Accumulator>& accumulators, int factor)
        : code_(code), loop_(loop), body_(code.body()), source_(*context.file.source),
          layout_(source_, context.kernel), accumulators_(accumulators), factor_(factor),
          indexName_(body_.variable(loop.inductionVariable).name) {
        for (const Accumulator& accumulator : accumulators_) {
            std::vector<std::string> names{body_.variable(accumulator.variable).name};
            for (int copy = 1; copy < factor_; ++copy)
                names.push_back(freshName(body_, fmt::format("{}{}", names[0], copy)));
            names_.push_back(std::move(names));
        }
    }

    std::vector<TextEdit> edits() {
        const Stmt& stmt = body_.stmt(loop_.statement);
        const Stmt& init = body_.stmt(stmt.init);
        const std::string indentation = layout_.indentation(stmt.span.begin);
        CodeLines lines(layout_, indentation);
        for (std::size_t i = 0; i < accumulators_.size(); ++i)
            lines.add(declaration(i));
        const std::string originalName = indexName_;
        TextEdit newInit{init.span, ";"};
        if (init.kind == StmtKind::Declaration) {
            const Variable& index = body_.variable(loop_.inductionVariable);
            if (isDeclaredBeside())
                indexName_ = freshName(body_, indexName_ + "Next");
            lines.add(fmt::format("{} {} = {};", index.type.spelling, indexName_,
                                  source_.slice(body_.expr(index.init).span)));
            if (indexName_ != originalName)
                newInit = {body_.expr(index.init).span, indexName_};
        } else {
            lines.add(fmt::format("{};", initText(init)));
        }
        lines.open(fmt::format("for (; {}; {}) {{", condition(), increment()));
        for (int copy = 0; copy < factor_; ++copy)
            addRound(lines, copy);
        lines.close();
        std::string before = lines.text() + indentation;
        before.erase(0, indentation.size());

        const std::uint32_t begin = stmt.span.begin;
        const std::uint32_t end = layout_.endOfLineTrivia(stmt.span.end);
        std::string after;
        for (std::size_t i = 0; i < accumulators_.size(); ++i)
            after += layout_.newline() + indentation + combination(i);
        if (newInit.newText == ";" && !source_.slice(init.span).ends_with(";"))
            newInit.newText.clear();
        return {{{begin, begin}, std::move(before)}, newInit, {{end, end}, std::move(after)}};
    }

private:
    [[nodiscard]] std::string initText(const Stmt& init) const {
        std::string text{source_.slice(init.span)};
        while (text.ends_with(';'))
            text.pop_back();
        return text;
    }

    /// The scope that would hold the index already has a variable of its name.
    [[nodiscard]] bool isDeclaredBeside() const {
        const StmtId scope = body_.stmt(loop_.statement).parent;
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            if (id == loop_.inductionVariable || body_.variable(id).name != indexName_)
                continue;
            const StmtId declaration = code_.declarationOf(id);
            const bool inNestedFor = declaration != noId &&
                                     body_.stmt(declaration).parent != scope &&
                                     !code_.encloses(declaration, loop_.statement);
            if (!inNestedFor)
                return true;
        }
        return false;
    }

    [[nodiscard]] std::string declaration(std::size_t i) const {
        const Accumulator& accumulator = accumulators_[i];
        const bool isDouble =
            body_.variable(accumulator.variable).type.scalar == ScalarKind::Double;
        std::string start = names_[i][0]; // folding a minimum or maximum twice changes nothing
        if (accumulator.reduction == Reduction::Sum)
            start = isDouble ? "0.0" : "0.0f";
        else if (accumulator.reduction == Reduction::Product)
            start = isDouble ? "1.0" : "1.0f";
        std::string text = isDouble ? "double " : "float ";
        for (int copy = 1; copy < factor_; ++copy)
            text += fmt::format("{}{} = {}", copy == 1 ? "" : ", ",
                                names_[i][static_cast<std::size_t>(copy)], start);
        return text + ";";
    }

    /// `(sum + sum1) + (sum2 + sum3)`: as shallow as it can be.
    [[nodiscard]] std::string combination(std::size_t i) const {
        const Accumulator& accumulator = accumulators_[i];
        std::vector<std::string> terms = names_[i];
        while (terms.size() > 1) {
            std::vector<std::string> pairs;
            for (std::size_t k = 0; k + 1 < terms.size(); k += 2)
                pairs.push_back(joined(accumulator, terms[k], terms[k + 1], terms.size() > 2));
            terms = std::move(pairs);
        }
        return fmt::format("{} = {};", names_[i][0], terms[0]);
    }

    [[nodiscard]] static std::string joined(const Accumulator& accumulator, const std::string& a,
                                            const std::string& b, bool isInner) {
        if (accumulator.reduction == Reduction::Minimum ||
            accumulator.reduction == Reduction::Maximum)
            return fmt::format("{}({}, {})", accumulator.function, a, b);
        const char op = accumulator.reduction == Reduction::Sum ? '+' : '*';
        const std::string text = fmt::format("{} {} {}", a, op, b);
        return isInner ? "(" + text + ")" : text;
    }

    /// The step as a number, unless it has a name: `warpSize` stays `warpSize`.
    [[nodiscard]] std::optional<std::int64_t> literalStep() const {
        const Expr& increment = body_.expr(body_.stmt(loop_.statement).increment);
        if (!loop_.step || increment.kind != ExprKind::Binary || increment.op != "+=")
            return loop_.step;
        const Expr& amount = body_.expr(code_.withoutCasts(increment.children[1]));
        return amount.kind == ExprKind::Integer && !amount.fromMacro ? loop_.step : std::nullopt;
    }

    [[nodiscard]] std::string stride() const {
        const Expr& increment = body_.expr(body_.stmt(loop_.statement).increment);
        const Expr& amount = body_.expr(increment.children[1]);
        const std::string text{source_.slice(amount.span)};
        const bool isBare = amount.kind != ExprKind::Binary && amount.kind != ExprKind::Conditional;
        return isBare ? text : fmt::format("({})", text);
    }

    [[nodiscard]] std::string times(int count) const {
        if (const auto step = literalStep())
            return std::to_string(*step * count);
        return count == 1 ? stride() : fmt::format("{} * {}", count, stride());
    }

    /// True while `factor` rounds fit, without an overflow that the original loop does not have.
    [[nodiscard]] std::string condition() const {
        const Stmt& stmt = body_.stmt(loop_.statement);
        const Expr& written = body_.expr(stmt.condition);
        const Expr& limit = body_.expr(written.children[1]);
        const std::string text{source_.slice(limit.span)};
        const bool needsBrackets =
            limit.kind == ExprKind::Conditional ||
            (limit.kind == ExprKind::Binary && limit.op != "+" && limit.op != "-" &&
             limit.op != "*" && limit.op != "/" && limit.op != "%");
        const std::string bracketed = needsBrackets ? fmt::format("({})", text) : text;
        const bool mayWrap = isUnsignedIndexType(limit.type) || !isIndexType(limit.type) ||
                             isUnsignedIndexType(body_.variable(loop_.inductionVariable).type) ||
                             !loop_.step;
        const auto value = code_.constantValue(written.children[1]);
        const bool isLargeConstant = value && loop_.step && *value >= *loop_.step * factor_;
        if (!mayWrap || isLargeConstant)
            return fmt::format("{} < {} - {}", indexName_, bracketed, times(factor_ - 1));
        return fmt::format("{0} < {1} && {1} - {0} > {2}", indexName_, bracketed,
                           times(factor_ - 1));
    }

    [[nodiscard]] std::string increment() const {
        return fmt::format("{} += {}", indexName_, times(factor_));
    }

    void addRound(CodeLines& lines, int copy) const {
        const std::vector<StmtId> statements = code_.statementsOf(loop_.body);
        const bool declares = std::ranges::any_of(
            statements, [&](StmtId id) { return body_.stmt(id).kind == StmtKind::Declaration; });
        if (declares)
            lines.open("{");
        for (const StmtId id : statements) {
            const Span span = body_.stmt(id).span;
            lines.addBlock(rewritten(source_, span, substitutions(span, copy)),
                           layout_.indentation(span.begin));
        }
        if (declares)
            lines.close();
    }

    [[nodiscard]] std::vector<TextEdit> substitutions(Span span, int copy) const {
        std::vector<TextEdit> parts;
        for (const ExprId use : code_.uses(loop_.inductionVariable)) {
            const Expr& expr = body_.expr(use);
            if (!span.contains(expr.span))
                continue;
            if (copy == 0) {
                parts.push_back({expr.span, indexName_});
                continue;
            }
            const std::string moved = fmt::format("{} + {}", indexName_, times(copy));
            parts.push_back({expr.span, standsAlone(use) ? moved : "(" + moved + ")"});
        }
        for (std::size_t i = 0; copy > 0 && i < accumulators_.size(); ++i)
            for (const ExprId use : code_.uses(accumulators_[i].variable))
                if (span.contains(body_.expr(use).span))
                    parts.push_back(
                        {body_.expr(use).span, names_[i][static_cast<std::size_t>(copy)]});
        return parts;
    }

    /// A sum in this place needs no brackets.
    [[nodiscard]] bool standsAlone(ExprId use) const {
        const ExprId parent = code_.parent(use);
        if (parent == noId)
            return true;
        const Expr& above = body_.expr(parent);
        if (above.kind == ExprKind::Subscript)
            return above.children[1] == use;
        return above.kind == ExprKind::Binary && above.op == "+" && loop_.step.has_value();
    }

    const CodeMap& code_;
    const Loop& loop_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const std::vector<Accumulator>& accumulators_;
    int factor_;
    std::string indexName_;
    std::vector<std::vector<std::string>> names_; ///< Per accumulator, the original's name first.
};

} // namespace

std::vector<TextEdit> splitAccumulators(const SkillContext& context, const CodeMap& code,
                                        const Loop& loop,
                                        const std::vector<Accumulator>& accumulators, int factor) {
    return Splitter(context, code, loop, accumulators, factor).edits();
}

} // namespace kernelskill::skills
