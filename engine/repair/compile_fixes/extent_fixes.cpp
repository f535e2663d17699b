/// Fixes `dim3 block = (16, 16)`, and extern shared arrays with a size.
#include "engine/repair/compile_fixes/fix_candidate.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::engine {
namespace {

std::vector<FixCandidate> asDim3(const RepairContext& context, analysis::Span parentheses) {
    const std::size_t open = context.tokenAt(parentheses.begin);
    const std::string title = fmt::format("write 'dim3{}'", context.slice(parentheses));
    if (open < 2 || context.textAt(open - 1) != "=")
        return {insertion("dim3-comma", parentheses.begin, "dim3", title)};
    // For dim3 block = (16, 16).
    return {{"dim3-comma",
             fmt::format("write '{}{}'", context.textAt(open - 2), context.slice(parentheses)),
             {{{context.tokens[open - 2].span.end, parentheses.begin}, ""}}}};
}

std::vector<FixCandidate> asStaticArray(const RepairContext& context, analysis::Span word) {
    const std::size_t token = context.tokenAt(word.begin);
    if (token + 1 >= context.tokens.size())
        return {};
    return {{"sized-extern-shared",
             "remove 'extern': the array has a size",
             {{{word.begin, context.tokens[token + 1].span.begin}, ""}}}};
}

} // namespace

std::vector<FixCandidate> extentFixes(const RepairContext& context,
                                      const analysis::Diagnostic& finding) {
    if (finding.code == "dim3-comma")
        return asDim3(context, finding.span);
    if (finding.code == "sized-extern-shared")
        return asStaticArray(context, finding.span);
    return {};
}

} // namespace kernelskill::engine
