#include "skills/aos-staging/record_places.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/try.h"
#include "skills/aos-staging/record_reach.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class PlaceFinder {
public:
    PlaceFinder(const SkillContext& context, const RowGuard& guard)
        : context_(context), code_(context.code()), body_(code_.body()), guard_(guard) {}

    Gated<void> find(RecordArray& array) {
        const std::string& name = body_.variable(array.variable).name;
        if (code_.isEverWritten(array.variable))
            return refuse("moved-pointer", fmt::format("{} itself is changed", name));
        for (const ExprId use : code_.uses(array.variable)) {
            const ExprId above = code_.parent(use);
            const auto place = above == noId ? std::nullopt : placeAt(array, use, above);
            if (!place)
                return refuse("whole-array",
                              fmt::format("line {} uses {} other than for a record of it",
                                          line(body_.expr(use).span), name));
            if (body_.expr(place->expression).fromMacro)
                return refuse("from-macro", fmt::format("{} on line {} comes out of a macro", name,
                                                        line(body_.expr(use).span)));
            array.places.push_back(*place);
        }
        return findNumber(array);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    std::optional<RecordPlace> placeAt(const RecordArray& array, ExprId use, ExprId above) {
        const Expr& expr = body_.expr(above);
        const bool isElement = expr.kind == ExprKind::Subscript && expr.children[0] == use;
        const bool isSum = expr.kind == ExprKind::Binary && expr.op == "+";
        if (!isElement && !isSum)
            return std::nullopt;
        const ExprId index = expr.children[expr.children[0] == use ? 1 : 0];
        const auto polynomial = polynomialOf(code_, index);
        if (!polynomial)
            return std::nullopt;
        RecordPlace place{above, isSum, {}};
        IndexExpression rest = *polynomial;
        for (const auto& [monomial, factor] : polynomial->terms()) {
            const bool isRound = monomial.size() == 1 && isCounter(monomial.front());
            if (!monomial.empty() && !isRound)
                continue;
            IndexExpression term = IndexExpression::constant(factor);
            if (isRound)
                term = term * IndexExpression::symbol(monomial.front());
            place.offset = place.offset + term;
            rest = rest - term;
        }
        const std::int64_t elements = array.isClass ? 1 : array.words;
        const auto begin = rowBegin(rest, elements);
        if (!begin || (array.isClass && !place.offset.terms().empty()) ||
            *begin != begin_.value_or(*begin))
            return std::nullopt;
        begin_ = begin;
        return place;
    }
    /// Whether it is a variable that counts the rounds of a loop.
    [[nodiscard]] bool isCounter(Symbol symbol) const {
        return symbol.kind == SymbolKind::Opaque &&
               std::ranges::any_of(context_.kernel.loops, [&](const Loop& loop) {
                   return loop.inductionVariable == symbol.id;
               });
    }

    /// Finds the number of a thread's record; a bounded position if there is one.
    Gated<void> findNumber(RecordArray& array) const {
        const IndexExpression elements = IndexExpression::constant(array.isClass ? 1 : array.words);
        const IndexExpression thread = IndexExpression::symbol(threadX);
        const IndexExpression wanted = begin_.value_or(IndexExpression()) + elements * thread;
        const auto isIt = [&](VariableId id) {
            const Variable& variable = body_.variable(id);
            if (variable.storage != Storage::Local || variable.init == noId ||
                !isIndexType(variable.type) || code_.isEverWritten(id))
                return false;
            const auto value = polynomialOf(code_, variable.init);
            return value && elements * *value == wanted;
        };
        for (const RecordBound& bound : guard_.bounds)
            if (isIt(bound.position)) {
                array.number = bound.position;
                return {};
            }
        for (VariableId id = 0; id < body_.variables.size(); ++id)
            if (isIt(id) && (isBeforeWork(id) || isComputable(id))) {
                array.number = id;
                return {};
            }
        if (wanted == elements * flatThreadIndex())
            return {};
        return refuse("record-number",
                      fmt::format("no variable holds the number of a thread's record of {}",
                                  body_.variable(array.variable).name));
    }
    /// Whether it is declared in the outermost block, before the checks.
    [[nodiscard]] bool isBeforeWork(VariableId id) const {
        const StmtId declaration = code_.declarationOf(id);
        if (declaration == noId || body_.stmt(declaration).parent != body_.root)
            return false;
        const StmtId guard = guard_.first(body_);
        return guard == noId || body_.stmt(declaration).span.begin < body_.stmt(guard).span.begin;
    }

    /// Whether its value can be computed before the checks, from positions, parameters, constants
    /// and locals declared there.
    [[nodiscard]] bool isComputable(VariableId id) const {
        return std::ranges::all_of(
            code_.expressionsBelow(body_.variable(id).init), [&](ExprId each) {
                const Expr& expr = body_.expr(each);
                const bool isLocal = expr.kind == ExprKind::Variable && expr.variable != noId &&
                                     body_.variable(expr.variable).storage == Storage::Local;
                return !expr.fromMacro && (!isLocal || isBeforeWork(expr.variable));
            });
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const RowGuard& guard_;
    std::optional<IndexExpression>
        begin_; ///< The beginning of a row's records; one for all places.
};

} // namespace

Gated<void> findPlaces(const SkillContext& context, const RowGuard& guard, RecordArray& array) {
    return PlaceFinder(context, guard).find(array);
}

} // namespace kernelskill::skills
