#include "engine/proof/launch_coverage.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

int parameterOf(const TermTable& terms, Term term) {
    constexpr std::string_view start = "$parameter";
    const std::string& name = terms.functionOf(term);
    int index = -1;
    if (name.starts_with(start))
        std::from_chars(name.data() + start.size(), name.data() + name.size(), index);
    return index;
}

namespace {

/// The value of a sum of products of parameters that the launch gives as constants.
std::optional<Wide> valueOf(const TermTable& terms, const LaunchText& launch, Term count) {
    constexpr Wide most = Wide{1} << 62;
    Wide sum = 0;
    for (const TermTable::Monomial& part : terms.monomials(count)) {
        Wide product = part.factor;
        for (const Term atom : part.atoms) {
            const int parameter = parameterOf(terms, atom);
            const auto value = parameter < 0
                                   ? std::nullopt
                                   : launch.argumentValue(static_cast<std::size_t>(parameter));
            if (!value || product > most || product < -most)
                return std::nullopt;
            product *= *value;
        }
        sum += product;
        if (product > most || product < -most || sum > most || sum < -most)
            return std::nullopt;
    }
    return sum;
}

} // namespace

bool covers(const TermTable& terms, const LaunchText& launch, Term count, std::int64_t width) {
    const auto wanted = valueOf(terms, launch, count);
    const int parameter = parameterOf(terms, count);
    const std::string argument =
        parameter < 0 ? std::string() : launch.argument(static_cast<std::size_t>(parameter));
    return std::ranges::any_of(launch.covered(width), [&](const LaunchText::Covered& covered) {
        return (!covered.text.empty() && covered.text == argument) ||
               (covered.constant && wanted && *covered.constant >= *wanted);
    });
}

bool launchesCover(const TermTable& terms, KernelRef kernel, Term count, std::int64_t width) {
    return !kernel.kernel.launches.empty() &&
           std::ranges::all_of(kernel.kernel.launches, [&](const analysis::LaunchSite& launch) {
               return covers(terms, LaunchText(kernel, launch), count, width);
           });
}

std::string nameOfCount(const TermTable& terms, KernelRef kernel, Term count) {
    const int parameter = parameterOf(terms, count);
    return parameter < 0 ? "the elements"
                         : kernel.kernel.parameters.at(static_cast<std::size_t>(parameter)).name;
}

Wide lastThread(LaunchAssumptions assumptions) {
    constexpr Wide blocks = (Wide{1} << 31) - 1;
    return assumptions.fewThreads ? blocks : blocks * 1024 - 1;
}

Term numberOfThread(TermTable& terms, LaunchAssumptions assumptions) {
    return terms.symbol("number", {0, lastThread(assumptions)});
}

bool hasPlace(const TermTable& terms, Term term, bool allowsTotal, std::set<Term>& seen) {
    if (!seen.insert(term).second)
        return false;
    const auto isNamed = [&](Term atom, std::string_view name) {
        return std::string_view(terms.functionOf(atom)).starts_with(name);
    };
    const std::string& function = terms.functionOf(term);
    if (!function.empty())
        return isNamed(term, "$threadIdx") || isNamed(term, "$blockIdx") ||
               isNamed(term, "$blockDim") || isNamed(term, "$gridDim") ||
               std::ranges::any_of(terms.arguments(term), [&](Term argument) {
                   return hasPlace(terms, argument, allowsTotal, seen);
               });
    for (const TermTable::Monomial& part : terms.monomials(term)) {
        const bool isTotal =
            allowsTotal && part.atoms.size() == 2 &&
            std::ranges::any_of(part.atoms,
                                [&](Term atom) { return isNamed(atom, "$gridDim.x"); }) &&
            std::ranges::any_of(part.atoms,
                                [&](Term atom) { return isNamed(atom, "$blockDim.x"); });
        if (!isTotal && std::ranges::any_of(part.atoms, [&](Term atom) {
                return hasPlace(terms, atom, allowsTotal, seen);
            }))
            return true;
    }
    return false;
}

} // namespace kernelskill::engine
