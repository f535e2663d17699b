/// Fixes atomics that an older GPU lacks.
#include "engine/repair/compile_fixes/fix_candidate.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::string_view additionName = "atomicAddDouble";
/// Compares bits, not values, so that a NaN is equal to itself.
constexpr std::string_view addition = R"(
__device__ inline double atomicAddDouble(double* address, double value) {
    auto* bits = reinterpret_cast<unsigned long long*>(address);
    unsigned long long seen = *bits;
    unsigned long long before;
    do {
        before = seen;
        const double sum = __longlong_as_double(static_cast<long long>(before)) + value;
        seen = atomicCAS(bits, before, static_cast<unsigned long long>(__double_as_longlong(sum)));
    } while (seen != before);
    return __longlong_as_double(static_cast<long long>(seen));
})";

} // namespace

std::vector<FixCandidate> atomicFixes(const RepairContext& context,
                                      const analysis::Diagnostic& finding) {
    const bool isOfDoubles = finding.code == "unsupported-atomic" && says(finding, "'double *'");
    if (!isOfDoubles || context.slice(finding.span) != "atomicAdd")
        return {};
    FixCandidate candidate{"unsupported-atomic", "add with atomicCAS", {}};
    const bool isThere = std::ranges::find(context.tokens, additionName, &analysis::Token::text) !=
                         context.tokens.end();
    if (!isThere)
        candidate.edits = behindIncludes(context, "", addition, "").edits;
    candidate.edits.push_back({finding.span, std::string(additionName)});
    return {std::move(candidate)};
}

} // namespace kernelskill::engine
