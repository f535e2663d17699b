#include "skills/address-strength-reduction/carried_divisions.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/value_range.h"
#include "analysis/source/try.h"
#include "analysis/syntax/statement_kinds.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::int64_t minRounds = 4; ///< Two divisions stand before the loop.

class Finder {
public:
    Finder(const SkillContext& context, const CodeMap& code)
        : context_(context), code_(code), body_(code.body()) {}

    [[nodiscard]] Gated<CarriedLoop> study(std::uint32_t index) const {
        const Loop& loop = context_.kernel.loops[index];
        KERNELSKILL_TRY(const auto counted, readCountedLoop(context_, code_, index));
        KERNELSKILL_CHECK(requireStartWithoutEffect(context_, code_, counted));
        CarriedLoop carried{counted, {}, 0};
        KERNELSKILL_CHECK(collect(loop, carried));
        if (loop.tripCount && *loop.tripCount < minRounds)
            return refuse("short-loop",
                          fmt::format("the loop on line {} has {} rounds",
                                      line(body_.stmt(loop.statement).span), *loop.tripCount));
        KERNELSKILL_CHECK(requireExact(loop, carried));
        KERNELSKILL_CHECK(requireOwnLines(context_, code_, loop));
        KERNELSKILL_CHECK(requireEachRoundsEnd(loop));
        return carried;
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] std::string text(ExprId expr) const {
        return std::string(context_.file.source->slice(body_.expr(expr).span));
    }

    Gated<void> collect(const Loop& loop, CarriedLoop& carried) const {
        Gated<void> none = refuse(
            "no-division", fmt::format("no round of the loop on line {} divides its index {}",
                                       line(body_.stmt(loop.statement).span),
                                       body_.variable(loop.inductionVariable).name));
        std::vector<ExprId> divisions;
        for (const ExprId id : code_.expressionsIn(loop.body)) {
            const Expr& expr = body_.expr(id);
            const bool isWork = expr.kind == ExprKind::Binary || expr.kind == ExprKind::Unary ||
                                expr.kind == ExprKind::Subscript || expr.kind == ExprKind::Call;
            const bool isDivision = expr.kind == ExprKind::Binary &&
                                    (expr.op == "/" || expr.op == "%") &&
                                    isIndex(loop, expr.children[0]);
            carried.otherWork += isWork && !isDivision ? 1 : 0;
            if (isDivision)
                divisions.push_back(id);
        }
        std::ranges::sort(divisions, {}, [&](ExprId id) { return body_.expr(id).span; });
        for (const ExprId id : divisions) {
            const Expr& expr = body_.expr(id);
            const ExprId divisor = expr.children[1];
            if (auto fits = requireCarriable(loop, expr, divisor); !fits) {
                none = fits;
                continue;
            }
            auto known =
                std::ranges::find_if(carried.divisions, [&](const CarriedDivision& division) {
                    return code_.sameExpression(division.divisor, divisor);
                });
            if (known == carried.divisions.end())
                known = carried.divisions.insert(known, {divisor, {}, {}, expr.type});
            (expr.op == "/" ? known->quotients : known->remainders).push_back(id);
        }
        return carried.divisions.empty() ? none : Gated<void>{};
    }

    [[nodiscard]] bool isIndex(const Loop& loop, ExprId expr) const {
        const Expr& at = body_.expr(expr);
        return at.kind == ExprKind::Variable && at.variable == loop.inductionVariable;
    }

    Gated<void> requireCarriable(const Loop& loop, const Expr& division, ExprId divisor) const {
        const bool isInMacro =
            division.fromMacro ||
            std::ranges::any_of(code_.expressionsBelow(divisor), [&](ExprId id) {
                return body_.expr(id).fromMacro && body_.expr(id).kind != ExprKind::Integer;
            });
        if (isInMacro)
            return refuse("from-macro",
                          fmt::format("the division on line {} comes out of a macro, in part",
                                      line(division.span)));
        const bool namesIndex = std::ranges::any_of(code_.expressionsBelow(divisor),
                                                    [&](ExprId id) { return isIndex(loop, id); });
        if (!isIndexType(division.type) || namesIndex || !isFixedOutside(code_, loop, divisor))
            return refuse("divisor-changes",
                          fmt::format("{} on line {} is not the same in each round", text(divisor),
                                      line(division.span)));
        if (!isKnownAtRunTime(divisor, 0))
            return refuse("constant-divisor",
                          fmt::format("{} on line {} is a constant, by which the compiler divides "
                                      "with a multiplication",
                                      text(divisor), line(division.span)));
        return {};
    }

    /// Made of something that only the launch decides.
    [[nodiscard]] bool isKnownAtRunTime(ExprId expr, int depth) const {
        if (code_.constantValue(expr))
            return false;
        return std::ranges::any_of(code_.expressionsBelow(expr), [&](ExprId id) {
            const Expr& at = body_.expr(id);
            if (at.kind == ExprKind::BuiltinIndex)
                return true;
            if (at.kind != ExprKind::Variable || at.variable == noId)
                return false;
            const Variable& variable = body_.variable(at.variable);
            if (variable.constantValue)
                return false;
            if (variable.storage == Storage::Local && variable.init != noId &&
                !code_.isEverWritten(at.variable))
                return depth > 8 || isKnownAtRunTime(variable.init, depth + 1);
            return variable.storage == Storage::Parameter || variable.storage == Storage::Local ||
                   variable.storage == Storage::Constant;
        });
    }

    /// Carrying gives what dividing would: neither the index nor the divisor is negative, and the
    /// index does not wrap around.
    Gated<void> requireExact(const Loop& loop, const CarriedLoop& carried) const {
        const Variable& index = body_.variable(loop.inductionVariable);
        const CountedLoop& counted = carried.counted;
        if (!isUnsignedIndexType(index.type) && !isNeverNegative(counted.start))
            return refuse("index-may-be-negative",
                          fmt::format("{} may be negative where the loop on line {} begins",
                                      index.name, line(body_.stmt(loop.statement).span)));
        if (counted.step != noId && !isUnsignedIndexType(body_.expr(counted.step).type) &&
            !isNeverNegative(counted.step))
            return refuse("index-may-be-negative",
                          fmt::format("{} may be negative, by which the loop on line {} advances",
                                      text(counted.step), line(body_.stmt(loop.statement).span)));
        if (index.type.scalar == ScalarKind::UInt32 && mayWrap(counted))
            return refuse("index-may-wrap",
                          fmt::format("{}, which has 32 bits without a sign, may pass its limit by "
                                      "wrapping around to 0",
                                      index.name));
        for (const CarriedDivision& division : carried.divisions)
            if (!isUnsignedIndexType(division.type) && !isPositive(division.divisor, counted.limit))
                return refuse(
                    "divisor-may-be-negative",
                    fmt::format("nothing here says that {} is above 0: it is signed, and no factor "
                                "of the loop's limit {}",
                                text(division.divisor), text(counted.limit)));
        return {};
    }

    [[nodiscard]] bool isNeverNegative(ExprId expr) const {
        const auto range = valueRangeOf(context_.kernel, code_, expr);
        if (range && range->low >= 0)
            return true;
        // A sum of products of thread and block indices, as long as it is one.
        const auto polynomial = polynomialOf(code_, expr);
        return polynomial && std::ranges::all_of(polynomial->terms(), [&](const auto& term) {
                   return term.second > 0 && std::ranges::all_of(term.first, [](Symbol symbol) {
                              return symbol.kind == SymbolKind::ThreadIdx ||
                                     symbol.kind == SymbolKind::BlockIdx ||
                                     symbol.kind == SymbolKind::BlockDim ||
                                     symbol.kind == SymbolKind::GridDim;
                          });
               });
    }

    [[nodiscard]] bool mayWrap(const CountedLoop& counted) const {
        const auto limit = valueRangeOf(context_.kernel, code_, counted.limit);
        const auto step = counted.step == noId ? ValueRange{1, 1}
                                               : valueRangeOf(context_.kernel, code_, counted.step);
        return !limit || !step || limit->low < 0 || step->low < 0 ||
               limit->high > (std::int64_t{1} << 32) - step->high;
    }

    /// A round has an index below `limit` and not below 0, so that the limit's factors have one
    /// sign: that of sizes.
    [[nodiscard]] bool isPositive(ExprId divisor, ExprId limit) const {
        const auto range = valueRangeOf(context_.kernel, code_, divisor);
        if (range && range->low > 0)
            return true;
        const auto part = polynomialOf(code_, divisor);
        const auto whole = polynomialOf(code_, limit);
        if (!part || !whole || part->terms().size() != 1 || whole->terms().size() != 1)
            return false;
        const auto& [factors, count] = *part->terms().begin();
        const auto& [product, times] = *whole->terms().begin();
        return count > 0 && times > 0 && std::ranges::includes(product, factors);
    }

    /// A `continue` would skip the statements that carry, which come last.
    Gated<void> requireEachRoundsEnd(const Loop& loop) const {
        for (const StmtId id : code_.statementsIn(loop.body)) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind == StmtKind::Goto)
                return refuse("skips-round",
                              fmt::format("line {} may leave out a part of the loop's body",
                                          line(stmt.span)));
            if (stmt.kind != StmtKind::Continue)
                continue;
            StmtId holder = stmt.parent;
            while (holder != noId && !isLoop(body_.stmt(holder).kind))
                holder = body_.stmt(holder).parent;
            if (holder == loop.statement)
                return refuse("skips-round",
                              fmt::format("line {} skips the end of a round", line(stmt.span)));
        }
        return {};
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

} // namespace

Gated<CarriedLoop> findCarriedLoop(const SkillContext& context, const CodeMap& code) {
    KERNELSKILL_CHECK(requireEditable(context));
    const Finder finder(context, code);
    return chooseLoop(context, code, [&](std::uint32_t loop) { return finder.study(loop); });
}

} // namespace kernelskill::skills
