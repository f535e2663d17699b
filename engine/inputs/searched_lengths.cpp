#include "engine/inputs/searched_lengths.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/loop_effects.h"

#include <algorithm>

namespace kernelskill::engine {
namespace {

using namespace analysis;

/// A longer buffer is not allocated for a guess.
constexpr std::int64_t maxLength = 1 << 24;

class Lengths {
public:
    Lengths(const KernelModel& kernel, const ParameterValue& valueOf)
        : kernel_(kernel), code_(kernel.body), valueOf_(valueOf) {}

    /// The elements that `access` shows, of its own width.
    [[nodiscard]] std::optional<std::int64_t> shownBy(const MemoryAccess& access) const {
        if (access.kind != AccessKind::Read || access.expression == noId)
            return std::nullopt;
        if (access.index && !access.loops.empty()) {
            const Loop& loop = kernel_.loops[access.loops.back()];
            if (loop.hasEarlyExit && loop.inductionVariable != noId && loop.upperBound != noId &&
                loop.comparison == "<" && loop.step.value_or(0) > 0 &&
                isInEveryRound(code_, loop, access.expression))
                return lengthTo(loop.upperBound, *access.index, loop.inductionVariable);
        }
        for (const Loop& loop : kernel_.loops)
            if (const auto shown = shownByHead(loop, access))
                return shown;
        return std::nullopt;
    }

private:
    /// The same for `a[i]` of a head `i < n && a[i] …`, whose loop advances by one.
    [[nodiscard]] std::optional<std::int64_t> shownByHead(const Loop& loop,
                                                          const MemoryAccess& access) const {
        const FunctionBody& body = kernel_.body;
        const Expr& element = body.expr(access.expression);
        const ExprId head = body.stmt(loop.statement).condition;
        const ExprId first = code_.firstConjunct(head);
        if (first == head || element.kind != ExprKind::Subscript ||
            code_.namedVariable(element.children[0]) != access.base)
            return std::nullopt;
        const Expr& bound = body.expr(first);
        const VariableId counter = bound.kind == ExprKind::Binary && bound.op == "<"
                                       ? code_.namedVariable(bound.children[0])
                                       : noId;
        if (counter == noId ||
            !isEvaluated(body.expr(code_.parent(first)).children[1], access.expression) ||
            !advancesByOne(loop, counter))
            return std::nullopt;
        const auto index = polynomialOf(code_, element.children[1]);
        return index ? lengthTo(bound.children[1], *index, counter) : std::nullopt;
    }

    /// Whether `condition` evaluates the element in any case.
    [[nodiscard]] bool isEvaluated(ExprId condition, ExprId element) const {
        for (ExprId at = element; at != noId; at = code_.parent(at)) {
            if (at == condition)
                return true;
            if (code_.mayBeSkipped(at))
                return false;
        }
        return false;
    }

    [[nodiscard]] bool advancesByOne(const Loop& loop, VariableId counter) const {
        return std::ranges::all_of(code_.uses(counter), [&](ExprId use) {
            if (!code_.isWrite(use) || !code_.holds(loop.statement, use))
                return true;
            const ExprId parent = code_.parent(use);
            const bool isStart = kernel_.body.stmt(loop.statement).init != noId &&
                                 code_.holds(kernel_.body.stmt(loop.statement).init, use);
            return isStart || (parent != noId && kernel_.body.expr(parent).op.contains("++"));
        });
    }

    /// The elements below the place that `index` tells for the last `counter` below the limit.
    [[nodiscard]] std::optional<std::int64_t> lengthTo(ExprId upper, const IndexExpression& index,
                                                       VariableId counter) const {
        const auto bound = polynomialOf(code_, upper);
        const auto limit = bound ? valueAt(*bound, noId, 0) : std::nullopt;
        if (!limit || *limit < 1 || *limit > maxLength)
            return std::nullopt;
        const auto last = valueAt(index, counter, *limit - 1);
        return last && *last >= 0 && *last < maxLength ? std::optional(*last + 1) : std::nullopt;
    }

    /// The value of terms that are numbers, known parameters or `counter`; nullopt for others.
    [[nodiscard]] std::optional<std::int64_t>
    valueAt(const IndexExpression& expression, VariableId counter, std::int64_t count) const {
        std::int64_t sum = 0;
        for (const auto& [monomial, factor] : expression.terms()) {
            std::int64_t value = factor;
            for (const Symbol& symbol : monomial) {
                const bool isCounter =
                    symbol.kind == SymbolKind::LoopVariable || symbol.kind == SymbolKind::Opaque;
                const auto known = isCounter && symbol.id == counter ? std::optional(count)
                                                                     : parameterValue(symbol);
                if (!known || __builtin_mul_overflow(value, *known, &value))
                    return std::nullopt;
            }
            if (__builtin_add_overflow(sum, value, &sum))
                return std::nullopt;
        }
        return sum;
    }

    [[nodiscard]] std::optional<std::int64_t> parameterValue(const Symbol& symbol) const {
        if (symbol.kind != SymbolKind::Parameter)
            return std::nullopt;
        const auto found = std::ranges::find(kernel_.parameters, symbol.id, &Parameter::variable);
        return found == kernel_.parameters.end()
                   ? std::nullopt
                   : valueOf_(static_cast<std::size_t>(found - kernel_.parameters.begin()));
    }

    const KernelModel& kernel_;
    CodeMap code_;
    const ParameterValue& valueOf_;
};

} // namespace

std::vector<std::uint64_t> searchedLengths(const KernelModel& kernel,
                                           const ParameterValue& valueOf) {
    std::vector<std::uint64_t> result(kernel.parameters.size(), 0);
    if (kernel.loops.empty())
        return result;
    const Lengths lengths(kernel, valueOf);
    for (const MemoryAccess& access : kernel.accesses) {
        const auto parameter =
            std::ranges::find(kernel.parameters, access.base, &Parameter::variable);
        if (access.base == noId || parameter == kernel.parameters.end() ||
            parameter->type.pointerDepth != 1)
            continue;
        if (const auto shown = lengths.shownBy(access)) {
            auto& length = result[static_cast<std::size_t>(parameter - kernel.parameters.begin())];
            length = std::max(length, static_cast<std::uint64_t>(*shown));
        }
    }
    return result;
}

} // namespace kernelskill::engine
