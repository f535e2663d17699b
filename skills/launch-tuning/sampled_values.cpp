#include "skills/launch-tuning/sampled_values.h"

#include "analysis/nest/nest.h"

#include <algorithm>
#include <map>

namespace kernelskill::skills {

using namespace analysis;

std::optional<std::int64_t> SampledValues::leaf(const Expr& expr, int /*depth*/) const {
    if (expr.kind != ExprKind::Variable && expr.kind != ExprKind::Member)
        return std::nullopt;
    // Adds a hash, so that names differ, and differ otherwise for the next sample.
    constexpr std::uint64_t range = 11;
    std::uint64_t hash = static_cast<std::uint64_t>(sample_);
    for (const char character : context_.file.source->slice(expr.span))
        hash = (hash ^ static_cast<unsigned char>(character)) * 1'099'511'628'211U;
    return sample_ + static_cast<std::int64_t>((hash >> 20U) % range);
}

std::optional<std::int64_t> SampledValues::limit(const IndexExpression& limit,
                                                 const LaunchSite& launch) const {
    std::map<Symbol, std::int64_t> known;
    const NestSymbols& symbols = context_.shared().nest().symbols;
    const auto& parameters = context_.kernel.parameters;
    for (const auto& [monomial, factor] : limit.terms())
        for (const Symbol symbol : monomial) {
            const NestSymbol* named = symbols.find(symbol);
            if (named == nullptr || named->kind != NestSymbolKind::Parameter)
                return std::nullopt;
            const auto at = std::ranges::find(parameters, named->name, &Parameter::name);
            const auto index = static_cast<std::size_t>(at - parameters.begin());
            const auto argument =
                index < launch.arguments.size() ? value(launch.arguments[index]) : std::nullopt;
            if (!argument)
                return std::nullopt;
            known[symbol] = *argument;
        }
    return limit.evaluate(known);
}

} // namespace kernelskill::skills
