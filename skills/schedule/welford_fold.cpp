#include "skills/schedule/welford_fold.h"

#include "analysis/queries/source_layout.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/lane_fold.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// A statement that gives a variable a value.
struct Setting {
    StmtId statement = noId;
    VariableId variable = noId;
    ExprId value = noId;
};

/// The statements of one running mean, in a block.
struct Pattern {
    Setting delta;  ///< `delta = x - mean;`
    Setting mean;   ///< `mean += delta / count;`, with the quotient as its value.
    Setting behind; ///< `delta2 = x - mean;`, if the text has one.
    Setting m2;     ///< `m2 += delta * delta2;`, with the product as its value.
    Setting step;   ///< `++count;`, `count = j + 1;` or `int count = j + 1;`, if the text has one.
};

bool isFloating(ScalarKind scalar) {
    return scalar == ScalarKind::Float || scalar == ScalarKind::Double;
}

class WelfordReader {
public:
    WelfordReader(const SkillContext& context, const Loop& loop)
        : context_(context), code_(context.code()), body_(code_.body()), loop_(loop),
          layout_(*context.file.source, context.kernel) {}

    /// Reads the running mean that the statement adds to; nullopt if it adds to none.
    [[nodiscard]] std::optional<Gated<WelfordFold>> read(StmtId id) const {
        Pattern pattern;
        pattern.mean = addition(id);
        const Expr* quotient = binary(pattern.mean.value, "/");
        const StmtId block = body_.stmt(id).parent;
        if (quotient == nullptr || block == noId || body_.stmt(block).kind != StmtKind::Compound ||
            isOfRound(pattern.mean.variable))
            return std::nullopt;
        pattern.delta = settingBefore(id, named(quotient->children[0]));
        if (differenceFrom(pattern.delta.value, pattern.mean.variable) == noId)
            return std::nullopt;
        return readRest(pattern, quotient->children[1]);
    }

private:
    [[nodiscard]] std::uint32_t line(StmtId id) const {
        return lineNumber(context_, body_.stmt(id).span.begin);
    }
    [[nodiscard]] const std::string& name(VariableId id) const { return body_.variable(id).name; }
    [[nodiscard]] std::unexpected<Refusal> no(const Pattern& pattern, std::string_view why) const {
        return refuse("running-variance",
                      fmt::format("{}, the running mean on line {}, is not combined across "
                                  "threads: {}",
                                  name(pattern.mean.variable), line(pattern.mean.statement), why));
    }

    /// Whether the variable is declared in the loop.
    [[nodiscard]] bool isOfRound(VariableId id) const {
        const StmtId declaration = code_.declarationOf(id);
        return declaration != noId && code_.encloses(loop_.statement, declaration);
    }

    /// Sees through casts to float and double.
    [[nodiscard]] ExprId floating(ExprId id) const {
        while (body_.expr(id).kind == ExprKind::Cast && body_.expr(id).type.pointerDepth == 0 &&
               isFloating(body_.expr(id).type.scalar))
            id = body_.expr(id).children.front();
        return id;
    }
    /// Sees through casts that keep the value of a count.
    [[nodiscard]] ExprId number(ExprId id) const {
        while (body_.expr(id).kind == ExprKind::Cast && body_.expr(id).type.pointerDepth == 0 &&
               isFoldable(body_.expr(id).type.scalar))
            id = body_.expr(id).children.front();
        return id;
    }
    [[nodiscard]] VariableId named(ExprId id) const {
        const Expr& expr = body_.expr(floating(id));
        return expr.kind == ExprKind::Variable ? expr.variable : noId;
    }
    /// Returns the expression, a binary one by that operator; nullptr if it is another.
    [[nodiscard]] const Expr* binary(ExprId id, std::string_view op) const {
        const Expr* expr = id == noId ? nullptr : &body_.expr(floating(id));
        return expr != nullptr && expr->kind == ExprKind::Binary && expr->op == op ? expr : nullptr;
    }

    /// Reads `sum += value;` and `sum = sum + value;`. The variable is noId for other statements.
    [[nodiscard]] Setting addition(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind != StmtKind::Expression || stmt.expr == noId ||
            body_.expr(stmt.expr).kind != ExprKind::Binary)
            return {};
        const Expr& expr = body_.expr(stmt.expr);
        const Expr& target = body_.expr(expr.children[0]);
        if (target.kind != ExprKind::Variable || target.variable == noId)
            return {};
        if (expr.op == "+=")
            return {id, target.variable, expr.children[1]};
        const Expr* sum = expr.op == "=" ? binary(expr.children[1], "+") : nullptr;
        for (const int side : {0, 1})
            if (sum != nullptr && named(sum->children[side]) == target.variable)
                return {id, target.variable, sum->children[1 - side]};
        return {};
    }

    /// Reads `variable = value;`, with or without a type before it.
    [[nodiscard]] Setting setting(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind == StmtKind::Declaration && stmt.declared.size() == 1)
            return {id, stmt.declared.front(), body_.variable(stmt.declared.front()).init};
        if (stmt.kind != StmtKind::Expression || stmt.expr == noId ||
            body_.expr(stmt.expr).kind != ExprKind::Binary || body_.expr(stmt.expr).op != "=")
            return {};
        const Expr& expr = body_.expr(stmt.expr);
        const Expr& target = body_.expr(expr.children[0]);
        return target.kind == ExprKind::Variable ? Setting{id, target.variable, expr.children[1]}
                                                 : Setting{};
    }
    /// Returns the last statement before `id`, in its block, that sets the variable.
    [[nodiscard]] Setting settingBefore(StmtId id, VariableId variable) const {
        Setting found;
        for (const StmtId other : code_.statementsOf(body_.stmt(id).parent)) {
            if (other == id)
                break;
            const Setting set = setting(other);
            if (variable != noId && set.variable == variable && set.value != noId)
                found = set;
        }
        return found;
    }

    /// Returns `x` of `x - mean`; noId for another value.
    [[nodiscard]] ExprId differenceFrom(ExprId value, VariableId mean) const {
        const Expr* difference = binary(value, "-");
        return difference != nullptr && named(difference->children[1]) == mean
                   ? floating(difference->children[0])
                   : noId;
    }

    [[nodiscard]] Gated<WelfordFold> readRest(Pattern pattern, ExprId divisor) const {
        WelfordFold fold;
        fold.mean = pattern.mean.variable;
        if (!findSquares(pattern))
            return no(pattern, fmt::format("no line behind it adds {} times the distance from the "
                                           "new {} to a sum",
                                           name(pattern.delta.variable), name(fold.mean)));
        fold.m2 = pattern.m2.variable;
        KERNELSKILL_CHECK(readCount(pattern, divisor, fold));
        KERNELSKILL_CHECK(requireNothingElse(pattern, fold));
        KERNELSKILL_CHECK(requireEveryValue(pattern, fold));
        for (const VariableId id :
             {fold.mean, fold.m2, pattern.delta.variable, pattern.behind.variable, fold.count}) {
            if (id == noId)
                continue;
            const Variable& variable = body_.variable(id);
            const bool isCarried = isPartOf(fold, id);
            if (variable.storage != Storage::Local || variable.type.isReference ||
                variable.type.isVolatile || variable.type.pointerDepth > 0 ||
                !variable.type.arrayExtents.empty() ||
                !(id == fold.count ? isFoldable(variable.type.scalar)
                                   : isFloating(variable.type.scalar)))
                return no(pattern,
                          fmt::format("{} is no {} of the thread's own", variable.name,
                                      id == fold.count ? "number" : "floating-point number"));
            if (isCarried && !startsAtZero(id))
                return no(pattern, fmt::format("{} is not set to 0 beside the loop on line {} and "
                                               "first used in it",
                                               variable.name, line(loop_.statement)));
        }
        return fold;
    }

    /// Looks for `m2 += delta * (x - mean);` behind the mean's statement.
    [[nodiscard]] bool findSquares(Pattern& pattern) const {
        const VariableId mean = pattern.mean.variable;
        const ExprId x = differenceFrom(pattern.delta.value, mean);
        const auto isBehind = [&](ExprId value) {
            const ExprId other = differenceFrom(value, mean);
            return other != noId && code_.sameExpression(x, other);
        };
        for (const StmtId id : code_.statementsOf(body_.stmt(pattern.mean.statement).parent)) {
            if (body_.stmt(id).span.begin <= body_.stmt(pattern.mean.statement).span.begin)
                continue;
            const Setting set = setting(id);
            if (set.value != noId && isBehind(set.value) && set.variable != noId)
                pattern.behind = set;
            const Setting sum = addition(id);
            const Expr* product = binary(sum.value, "*");
            for (const int side : {0, 1}) {
                if (product == nullptr || named(product->children[side]) != pattern.delta.variable)
                    continue;
                const ExprId other = product->children[1 - side];
                const bool isNamed =
                    pattern.behind.variable != noId && named(other) == pattern.behind.variable;
                if (!isNamed && !isBehind(other))
                    continue;
                if (!isNamed)
                    pattern.behind = {};
                pattern.m2 = sum;
                return true;
            }
        }
        return false;
    }

    /// Reads from where the text takes the number of values.
    [[nodiscard]] Gated<void> readCount(Pattern& pattern, ExprId divisor, WelfordFold& fold) const {
        const auto other = [&] {
            return no(pattern,
                      fmt::format("it is not divided by the number of values so far, which "
                                  "a line before it counts, or by that of the round on "
                                  "line {}",
                                  line(loop_.statement)));
        };
        const ExprId count = number(divisor);
        if (isRoundNumber(count)) {
            fold.round = count;
            fold.counted = pattern.mean.statement;
        } else {
            const VariableId variable = body_.expr(count).variable;
            if (body_.expr(count).kind != ExprKind::Variable || variable == noId)
                return other();
            pattern.step = increment(pattern.mean.statement, variable);
            if (pattern.step.statement == noId) {
                pattern.step = settingBefore(pattern.mean.statement, variable);
                if (pattern.step.statement == noId || !isRoundNumber(number(pattern.step.value)))
                    return other();
                fold.round = number(pattern.step.value);
                fold.counted = pattern.step.statement;
            }
            if (!isOfRound(variable))
                fold.count = variable;
            else if (fold.round == noId)
                return other();
        }
        if (fold.count != noId) {
            fold.countName = name(fold.count);
            fold.countType = body_.variable(fold.count).type.spelling;
            return {};
        }
        const ScalarKind scalar = body_.variable(loop_.inductionVariable).type.scalar;
        fold.countType = scalar == ScalarKind::Int64 || scalar == ScalarKind::UInt64 ? "long long"
                         : scalar == ScalarKind::UInt32                              ? "unsigned"
                                                                                     : "int";
        return {};
    }

    /// Returns the statement of the block before `id` that adds 1 to the variable.
    [[nodiscard]] Setting increment(StmtId id, VariableId variable) const {
        for (const StmtId other : code_.statementsOf(body_.stmt(id).parent)) {
            if (other == id)
                break;
            const Stmt& stmt = body_.stmt(other);
            if (stmt.kind != StmtKind::Expression || stmt.expr == noId)
                continue;
            const Expr& expr = body_.expr(stmt.expr);
            const Setting sum = addition(other);
            const bool isStep = expr.kind == ExprKind::Unary &&
                                (expr.op == "++" || expr.op == "p++") &&
                                body_.expr(expr.children[0]).variable == variable;
            if (isStep || (sum.variable == variable && isLiteral(sum.value, 1)))
                return {other, variable, noId};
        }
        return {};
    }

    [[nodiscard]] bool isLiteral(ExprId id, std::int64_t value) const {
        const Expr& expr = body_.expr(number(id));
        return (expr.kind == ExprKind::Integer && expr.integer == value) ||
               (expr.kind == ExprKind::Floating && expr.floating == static_cast<double>(value));
    }

    /// A sum of the loop's counter, a constant, and other variables with a sign.
    struct Terms {
        int counters = 0;
        double constant = 0;
        std::vector<std::pair<VariableId, int>> variables;
        bool isKnown = true;
    };

    void addTerms(ExprId id, int sign, Terms& terms) const {
        id = number(id);
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Binary && (expr.op == "+" || expr.op == "-")) {
            addTerms(expr.children[0], sign, terms);
            addTerms(expr.children[1], expr.op == "-" ? -sign : sign, terms);
        } else if (expr.kind == ExprKind::Floating) {
            terms.constant += sign * expr.floating;
        } else if (const auto value = code_.constantValue(id)) {
            terms.constant += sign * static_cast<double>(*value);
        } else if (expr.kind != ExprKind::Variable || expr.variable == noId) {
            terms.isKnown = false;
        } else if (expr.variable == loop_.inductionVariable) {
            terms.counters += sign;
        } else {
            const auto found = std::ranges::find(terms.variables, expr.variable,
                                                 &std::pair<VariableId, int>::first);
            if (found == terms.variables.end())
                terms.variables.emplace_back(expr.variable, sign);
            else
                found->second += sign;
        }
    }

    /// Whether the value is 1 in the first round of the loop, and one more in each further one.
    [[nodiscard]] bool isRoundNumber(ExprId id) const {
        if (loop_.step != 1 || loop_.lowerBound == noId || loop_.inductionVariable == noId)
            return false;
        Terms terms;
        addTerms(id, 1, terms);
        if (terms.counters != 1)
            return false;
        addTerms(loop_.lowerBound, 1, terms);
        return terms.isKnown && terms.counters == 1 && terms.constant == 1 &&
               std::ranges::all_of(terms.variables, [&](const auto& term) {
                   return term.second == 0 && !isWrittenIn(term.first);
               });
    }
    [[nodiscard]] bool isWrittenIn(VariableId variable) const {
        return std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
            return code_.holds(loop_.statement, use) && code_.isWrite(use);
        });
    }

    /// Requires that the loop uses the variables in the statements of the pattern alone, and that
    /// nothing else is done between the two differences from the mean: x may be other memory then.
    [[nodiscard]] Gated<void> requireNothingElse(const Pattern& pattern,
                                                 const WelfordFold& fold) const {
        const std::vector<StmtId> own{pattern.delta.statement, pattern.mean.statement,
                                      pattern.behind.statement, pattern.m2.statement,
                                      pattern.step.statement};
        std::vector<VariableId> variables{fold.mean, fold.m2, pattern.delta.variable,
                                          pattern.behind.variable, pattern.step.variable};
        std::erase(variables, noId);
        for (const VariableId variable : variables) {
            if (std::ranges::count(variables, variable) > 1)
                return no(pattern, fmt::format("{} stands for two values", name(variable)));
            for (const ExprId use : code_.uses(variable))
                if (code_.holds(loop_.statement, use) &&
                    (std::ranges::find(own, code_.statement(use)) == own.end() ||
                     isBelow(use, differenceFrom(pattern.delta.value, fold.mean))))
                    return no(pattern, fmt::format("line {} uses {} for something else",
                                                   lineNumber(context_, body_.expr(use).span.begin),
                                                   name(variable)));
        }
        const std::uint32_t begin = body_.stmt(pattern.delta.statement).span.begin;
        const std::uint32_t end = body_.stmt(pattern.m2.statement).span.begin;
        for (const StmtId id : code_.statementsOf(body_.stmt(pattern.mean.statement).parent)) {
            const std::uint32_t at = body_.stmt(id).span.begin;
            if (at > begin && at < end && std::ranges::find(own, id) == own.end())
                return no(pattern, fmt::format("line {} stands between its lines", line(id)));
        }
        return {};
    }
    [[nodiscard]] bool isBelow(ExprId inner, ExprId outer) const {
        for (ExprId at = inner; at != noId; at = code_.parent(at))
            if (at == outer)
                return true;
        return false;
    }

    /// Requires that a round which is counted takes a value as well, and that the lines of a count
    /// can stand where the text uses the round's number.
    [[nodiscard]] Gated<void> requireEveryValue(const Pattern& pattern,
                                                const WelfordFold& fold) const {
        const bool counts = fold.round == noId;
        const std::uint32_t begin =
            body_.stmt(counts ? pattern.step.statement : loop_.statement).span.begin;
        const std::uint32_t end = body_.stmt(pattern.m2.statement).span.begin;
        for (const StmtId id : code_.statementsIn(loop_.statement)) {
            const Stmt& stmt = body_.stmt(id);
            const bool jumps = stmt.kind == StmtKind::Continue || stmt.kind == StmtKind::Break ||
                               stmt.kind == StmtKind::Goto || stmt.kind == StmtKind::Return;
            if (jumps && stmt.span.begin > begin && stmt.span.begin < end)
                return no(pattern, fmt::format("line {} may skip it", line(id)));
        }
        if (counts)
            return {};
        if (body_.stmt(fold.counted).parent != loop_.body)
            return no(pattern, fmt::format("not each round of the loop on line {} may come to it",
                                           line(loop_.statement)));
        if (body_.stmt(fold.counted).fromMacro || body_.expr(fold.round).fromMacro ||
            !hasOwnLines(body_, layout_, fold.counted, fold.counted))
            return no(pattern, fmt::format("line {} has no place for a count", line(fold.counted)));
        return {};
    }

    /// Whether the variable is set to 0 beside the loop, and first used again in the loop.
    [[nodiscard]] bool startsAtZero(VariableId id) const {
        const std::vector<ExprId>& uses = code_.uses(id);
        ExprId value = body_.variable(id).init;
        std::size_t next = 0;
        if (value == noId && !uses.empty()) {
            const Setting set = setting(code_.statement(uses.front()));
            value = set.variable == id ? set.value : noId;
            ++next;
        }
        return value != noId && isLiteral(value, 0) && next < uses.size() &&
               code_.holds(loop_.statement, uses[next]) &&
               body_.stmt(code_.statement(value)).parent == body_.stmt(loop_.statement).parent;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Loop& loop_;
    SourceLayout layout_;
};

} // namespace

WelfordFolds welfordFolds(const SkillContext& context, std::uint32_t index) {
    const Loop& loop = context.kernel.loops.at(index);
    const WelfordReader reader(context, loop);
    WelfordFolds found;
    for (const StmtId id : context.code().statementsIn(loop.statement)) {
        auto fold = reader.read(id);
        if (fold && *fold)
            found.folds.push_back(**std::move(fold));
        else if (fold && !found.refusal)
            found.refusal = std::move(fold->error());
    }
    return found;
}

} // namespace kernelskill::skills
