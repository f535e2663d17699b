/// Fixes shuffles and votes from before CUDA 9.
#include "analysis/device_rules/device_rules.h"
#include "engine/repair/compile_fixes/fix_candidate.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine {
namespace {

/// Whether possibly only some lanes of a warp reach `offset`.
bool isUnderCondition(const analysis::FileModel& model, std::uint32_t offset) {
    for (const auto* functions : {&model.kernels, &model.deviceFunctions})
        for (const analysis::KernelModel& function : *functions) {
            if (function.file != model.file || !function.span.contains(offset))
                continue;
            return std::ranges::any_of(function.branches, [&](const analysis::Branch& branch) {
                if (!branch.dependsOnThread && !branch.dependsOnData)
                    return false;
                // All lanes evaluate the condition itself.
                const auto& sides = function.body.stmt(branch.statement).children;
                return std::ranges::any_of(sides, [&](analysis::StmtId side) {
                    return function.body.stmt(side).span.contains(offset);
                });
            });
        }
    return false;
}

} // namespace

std::vector<FixCandidate> warpFunctionFixes(const RepairContext& context,
                                            const analysis::Diagnostic& finding) {
    if (finding.code != "removed-warp-function")
        return {};
    const std::size_t name = context.tokenAt(finding.span.begin);
    const std::string_view successor = analysis::successorOfWarpFunction(context.textAt(name));
    if (successor.empty() || context.textAt(name + 1) != "(")
        return {};
    const std::string_view mask =
        isUnderCondition(context.model, finding.span.begin) ? "__activemask()" : "0xffffffff";
    const std::uint32_t behind = context.tokens[name + 1].span.end;
    return {{"removed-warp-function",
             fmt::format("use '{}' with the mask {}", successor, mask),
             {{context.tokens[name].span, std::string(successor)},
              {{behind, behind}, fmt::format("{}, ", mask)}}}};
}

} // namespace kernelskill::engine
