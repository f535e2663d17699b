#include "engine/inputs/length_parameters.h"

#include "analysis/queries/index_arithmetic.h"

#include <algorithm>
#include <set>

namespace kernelskill::engine {
namespace {

using analysis::IndexExpression;
using analysis::Monomial;
using analysis::Symbol;
using analysis::SymbolKind;

/// Elements of a length: enough for several tiles.
constexpr std::int64_t usualLength = 64;
/// Elements of a row with a thread each: enough for several blocks.
constexpr std::int64_t usualRow = 1024;

analysis::ExprId withoutCasts(const analysis::KernelModel& kernel, analysis::ExprId expr) {
    while (kernel.body.expr(expr).kind == analysis::ExprKind::Cast &&
           !kernel.body.expr(expr).children.empty())
        expr = kernel.body.expr(expr).children.front();
    return expr;
}

/// `i < parameter`, as the condition of a loop.
bool countsUpTo(const analysis::KernelModel& kernel, const analysis::Loop& loop,
                analysis::VariableId parameter) {
    const bool isAscending =
        loop.comparison == "<" || loop.comparison == "<=" || loop.comparison == "!=";
    if (!isAscending || loop.upperBound == analysis::noId)
        return false;
    const analysis::Expr& limit = kernel.body.expr(withoutCasts(kernel, loop.upperBound));
    return limit.kind == analysis::ExprKind::Variable && limit.variable == parameter;
}

/// The max number of rounds that stay within the arrays of known extents that the loop walks.
std::int64_t maxRoundsWithin(const analysis::KernelModel& kernel, std::size_t loop) {
    const analysis::Symbol counter{analysis::SymbolKind::LoopVariable,
                                   kernel.loops[loop].inductionVariable};
    std::int64_t rounds = usualLength;
    for (const analysis::MemoryAccess& access : kernel.accesses) {
        if (!access.index || access.base == analysis::noId ||
            std::ranges::find(access.loops, loop) == access.loops.end())
            continue;
        const auto& extents = kernel.body.variable(access.base).type.arrayExtents;
        const auto coefficient = access.index->coefficientOf(counter);
        const auto stride = coefficient ? coefficient->asConstant() : std::nullopt;
        if (extents.empty() || !stride || *stride <= 0)
            continue;
        std::int64_t elements = 1;
        for (const std::int64_t extent : extents)
            elements *= extent;
        if (elements > 0)
            rounds = std::min(rounds, std::max<std::int64_t>(1, elements / *stride));
    }
    return rounds;
}

/// The function that the call is of, if the file has one of that name with as many parameters;
/// else null.
const analysis::KernelModel* calledBy(const analysis::FileModel& file, const analysis::Expr& call) {
    const auto fits = [&](const analysis::KernelModel& function) {
        return function.name == call.name && function.parameters.size() == call.children.size();
    };
    const auto found = std::ranges::find_if(file.deviceFunctions, fits);
    const bool isOnly = std::ranges::count_if(file.deviceFunctions, fits) == 1;
    return isOnly && !call.isMethod ? &*found : nullptr;
}

/// The length to use for the parameter where a loop counts up to it, there or in a function that it
/// is handed to, and in those that this one calls, `depth` levels down.
std::optional<std::int64_t> lengthOf(const analysis::FileModel& file,
                                     const analysis::KernelModel& kernel,
                                     analysis::VariableId parameter, int depth = 3) {
    std::optional<std::int64_t> length;
    const auto take = [&](std::int64_t other) {
        length = std::min(length.value_or(usualLength), other);
    };
    for (std::size_t loop = 0; loop < kernel.loops.size(); ++loop)
        if (countsUpTo(kernel, kernel.loops[loop], parameter))
            take(maxRoundsWithin(kernel, loop));
    for (const analysis::Expr& expr : kernel.body.exprs) {
        if (expr.kind != analysis::ExprKind::Call || depth == 0)
            continue;
        const analysis::KernelModel* const function = calledBy(file, expr);
        for (std::size_t i = 0; function != nullptr && i < expr.children.size(); ++i) {
            const analysis::Expr& argument =
                kernel.body.expr(withoutCasts(kernel, expr.children[i]));
            if (argument.kind != analysis::ExprKind::Variable || argument.variable != parameter)
                continue;
            if (const auto inside =
                    lengthOf(file, *function, function->parameters[i].variable, depth - 1))
                take(*inside);
        }
    }
    return length;
}

/// The same where a thread's or a block's position is checked against it.
std::optional<std::int64_t> lengthChecked(const KernelText& text, const ProgramText::File& file,
                                          std::string_view parameter) {
    for (std::size_t axis = 0; axis < text.bounds.size(); ++axis) {
        const auto& bound = text.bounds[axis];
        if (!bound || bound->second != bound->first + 1 || !file.tokens[bound->first].is(parameter))
            continue;
        const bool isRow = axis == 0 && !text.boundIsPerBlock[0] && !text.usesThread[1];
        return isRow ? usualRow : usualLength;
    }
    return std::nullopt;
}

bool isThreadOrBlock(const Symbol& symbol) {
    return symbol.kind == SymbolKind::ThreadIdx || symbol.kind == SymbolKind::BlockIdx;
}

bool isPosition(const Monomial& monomial) {
    return std::ranges::any_of(monomial, [](const Symbol& symbol) {
        return isThreadOrBlock(symbol) || symbol.kind == SymbolKind::LoopVariable;
    });
}

/// Whether the parameter is the distance of rows, as in `p[y * parameter + x]` with threads along
/// x. In `p[blockIdx.x * parameter + threadIdx.x]` it is the number of a block's elements.
bool separatesRows(const analysis::MemoryAccess& access, const Symbol& parameter) {
    if (!access.index || !access.index->dependsOn(parameter))
        return false;
    const auto isFactorOf = [&](const Monomial& monomial) {
        return std::ranges::find(monomial, parameter) != monomial.end();
    };
    // `(parameter + 1) * y` is a sum of `parameter * y` and `y`: it separates rows all the same.
    std::set<std::uint32_t> axesAlong;
    std::set<std::uint32_t> axesAcross;
    for (const auto& [monomial, factor] : access.index->terms())
        for (const Symbol& symbol : monomial)
            if (symbol.kind == SymbolKind::ThreadIdx)
                (isFactorOf(monomial) ? axesAcross : axesAlong).insert(symbol.id);
    for (const std::uint32_t axis : axesAcross)
        axesAlong.erase(axis);
    return !axesAlong.empty() && std::ranges::any_of(access.index->terms(), [&](const auto& term) {
        return isFactorOf(term.first) && std::ranges::any_of(term.first, [&](const Symbol& symbol) {
                   return symbol.kind == SymbolKind::LoopVariable ||
                          (isThreadOrBlock(symbol) && !axesAlong.contains(symbol.id));
               });
    });
}

/// Whether `lower` < `upper` keeps positions of threads or blocks below the parameter.
bool staysBelow(const IndexExpression& lower, const IndexExpression& upper,
                const Symbol& parameter) {
    const auto found = upper.terms().find(Monomial{parameter});
    return found != upper.terms().end() && found->second == 1 &&
           std::ranges::all_of(upper.terms(),
                               [](const auto& term) { return term.first.size() <= 1; }) &&
           std::ranges::none_of(upper.terms(),
                                [](const auto& term) { return isPosition(term.first); }) &&
           std::ranges::any_of(lower.terms(), [](const auto& term) {
               return term.second > 0 && std::ranges::any_of(term.first, isThreadOrBlock);
           });
}

/// `position < bound` of a comparison.
struct UpperBound {
    IndexExpression position;
    IndexExpression bound;
};

/// `a < b` and `a <= b`, also written the other way round. The opposite conditions are left out:
/// what positions stay above is no length.
std::vector<UpperBound> upperBounds(const analysis::KernelModel& kernel) {
    const analysis::CodeMap code(kernel.body);
    std::vector<UpperBound> result;
    for (const analysis::Expr& expr : kernel.body.exprs) {
        const bool isLess = expr.op == "<" || expr.op == "<=";
        if (expr.kind != analysis::ExprKind::Binary || expr.children.size() != 2 ||
            (!isLess && expr.op != ">" && expr.op != ">="))
            continue;
        auto position = analysis::polynomialOf(code, expr.children[isLess ? 0 : 1]);
        auto bound = analysis::polynomialOf(code, expr.children[isLess ? 1 : 0]);
        if (position && bound)
            result.push_back({std::move(*position), std::move(*bound)});
    }
    return result;
}

} // namespace

std::vector<std::optional<std::int64_t>> lengthsByUse(const analysis::FileModel& file,
                                                      const analysis::KernelModel& kernel,
                                                      const ProgramText& program,
                                                      const KernelText* text) {
    const std::vector<UpperBound> bounds = upperBounds(kernel);
    std::vector<std::optional<std::int64_t>> result;
    for (const analysis::Parameter& parameter : kernel.parameters) {
        std::optional<std::int64_t>& length =
            result.emplace_back(lengthOf(file, kernel, parameter.variable));
        if (!length && text)
            length = lengthChecked(*text, program.files()[text->function->file], parameter.name);
        const Symbol symbol{SymbolKind::Parameter, parameter.variable};
        if (!length && (std::ranges::any_of(kernel.accesses,
                                            [&](const analysis::MemoryAccess& access) {
                                                return separatesRows(access, symbol);
                                            }) ||
                        std::ranges::any_of(bounds, [&](const UpperBound& bound) {
                            return staysBelow(bound.position, bound.bound, symbol);
                        })))
            length = usualLength;
    }
    return result;
}

} // namespace kernelskill::engine
