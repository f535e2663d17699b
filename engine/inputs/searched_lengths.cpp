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
        if (access.kind != AccessKind::Read || access.expression == noId || !access.index ||
            access.loops.empty())
            return std::nullopt;
        const Loop& loop = kernel_.loops[access.loops.back()];
        if (!loop.hasEarlyExit || loop.inductionVariable == noId || loop.upperBound == noId ||
            loop.comparison != "<" || loop.step.value_or(0) != 1 ||
            !isInEveryRound(code_, loop, access.expression))
            return std::nullopt;
        const auto bound = polynomialOf(code_, loop.upperBound);
        const auto limit = bound ? valueAt(*bound, noId, 0) : std::nullopt;
        if (!limit || *limit < 1 || *limit > maxLength)
            return std::nullopt;
        const auto last = valueAt(*access.index, loop.inductionVariable, *limit - 1);
        return last && *last >= 0 && *last < maxLength ? std::optional(*last + 1) : std::nullopt;
    }

private:
    /// The value of terms that are numbers, known parameters or `counter`; nullopt for others.
    [[nodiscard]] std::optional<std::int64_t>
    valueAt(const IndexExpression& expression, VariableId counter, std::int64_t count) const {
        std::int64_t sum = 0;
        for (const auto& [monomial, factor] : expression.terms()) {
            std::int64_t value = factor;
            for (const Symbol& symbol : monomial) {
                const auto known = symbol.kind == SymbolKind::LoopVariable && symbol.id == counter
                                       ? std::optional(count)
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
    if (std::ranges::none_of(kernel.loops, &Loop::hasEarlyExit))
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
