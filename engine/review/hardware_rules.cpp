#include "engine/review/hardware_rules.h"

#include "analysis/device_rules/device_rules.h"
#include "analysis/nest/nest.h"
#include "engine/inputs/compared_variables.h"
#include "engine/inputs/equal_pointers.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace kernelskill::engine {
namespace {

using analysis::AccessKind;
using analysis::Expr;
using analysis::ExprKind;
using analysis::noId;

constexpr std::uint32_t maxBlocksAlongYAndZ = 65'535;
/// The attribute that a program sets to launch with more shared memory than static arrays may take.
constexpr std::string_view sharedMemoryAttribute = "MaxDynamicSharedMemorySize";

/// Why a GPU refuses the launch; empty if it does not.
std::string brokenLimit(KernelRef kernel, const LaunchSpec& launch) {
    const std::uint64_t threads = launch.block.count();
    const auto bound = kernel.kernel.launchBoundsThreads.value_or(0);
    if (bound > 0 && threads > static_cast<std::uint64_t>(bound))
        return fmt::format("the launch fails: a block of {} threads, and {} is compiled for {} by "
                           "its __launch_bounds__",
                           threads, kernel.kernel.name, bound);
    for (const auto& [axis, blocks] : {std::pair{'y', launch.grid.y}, {'z', launch.grid.z}})
        if (blocks > maxBlocksAlongYAndZ)
            return fmt::format("the launch fails: a grid has at most {} blocks along {}, and this "
                               "one {}",
                               maxBlocksAlongYAndZ, axis, blocks);
    const std::uint64_t shared =
        launch.dynamicSharedBytes + analysis::staticSharedBytes(kernel.kernel);
    if (launch.dynamicSharedBytes > 0 && shared > analysis::maxStaticSharedBytes &&
        !kernel.program.text.contains(sharedMemoryAttribute))
        return fmt::format("the launch fails: {} bytes of shared memory, and more than {} takes "
                           "cudaFuncSetAttribute",
                           shared, analysis::maxStaticSharedBytes);
    return {};
}

struct ReadOnlyLoad {
    std::string array;
    analysis::Span span;
    std::string file;
};

std::string placeOf(const ReadOnlyLoad& load, KernelRef kernel) {
    return load.file == kernel.file().file
               ? fmt::format("line {}", kernel.file().source->lineColumn(load.span.begin).line + 1)
               : load.file;
}

/// The loads by __ldg from arrays that the kernel writes, or that a launch passes the pointer of
/// such an array for.
std::vector<ReadOnlyLoad> readOnlyLoadsOfWritten(KernelRef kernel,
                                                 const std::vector<PointerPair>& pairs) {
    const auto nest = analysis::nestOf(kernel.file(), kernel.kernel);
    std::set<analysis::NestArrayId> written;
    for (const analysis::NestAccess& access : nest->accesses)
        if (access.kind != AccessKind::Read && access.array != noId)
            written.insert(access.array);
    for (analysis::NestArrayId array = 0; array < nest->arrays.size(); ++array) {
        const auto pair = std::ranges::find(pairs, nest->arrays[array].name, &PointerPair::input);
        if (pair != pairs.end() && pair->isPassedEqual)
            written.insert(array);
    }
    std::vector<ReadOnlyLoad> loads;
    for (std::uint32_t frame = 0; frame < nest->frames.size(); ++frame) {
        const analysis::KernelModel& function =
            analysis::functionOf(kernel.file(), kernel.kernel, nest->frames[frame]);
        for (const Expr& call : function.body.exprs) {
            if (call.kind != ExprKind::Call || call.name != "__ldg")
                continue;
            for (const analysis::NestAccess& access : nest->accesses) {
                if (access.frame != frame || access.kind != AccessKind::Read ||
                    access.expression == noId || !written.contains(access.array) ||
                    !call.span.contains(function.body.expr(access.expression).span))
                    continue;
                loads.push_back({nest->arrays[access.array].name, call.span, function.file});
            }
        }
    }
    return loads;
}

FailedCheck failure(VerdictStatus status, std::string name, std::string detail) {
    return {status, std::move(name), std::move(detail), true, {.stage = ReviewStage::Hardware}};
}

} // namespace

std::optional<FailedCheck> brokenHardwareRule(KernelRef original, KernelRef candidate,
                                              const TrialPlan& plan) {
    const auto check = [&](const LaunchSpec& before,
                           const LaunchSpec& after) -> std::optional<FailedCheck> {
        std::string broken = brokenLimit(candidate, after);
        if (broken.empty() || !brokenLimit(original, before).empty())
            return std::nullopt;
        return failure(VerdictStatus::Invalid, "can be launched on a GPU", std::move(broken));
    };
    if (auto failed = check(plan.statedOriginal, plan.statedCandidate))
        return failed;
    for (const Trial& trial : plan.trials)
        if (auto failed = check(trial.original, trial.candidate))
            return failed;
    if (const auto state =
            addedState({original.file(), original.kernel}, {candidate.file(), candidate.kernel}))
        return failure(VerdictStatus::Incorrect, "keeps no state between launches",
                       fmt::format("the edit adds '{}', in which a launch leaves what the next one "
                                   "finds; no run shows what that does",
                                   *state));
    const PointerPairs pairs =
        pointerPairs({original.file(), original.kernel}, {candidate.file(), candidate.kernel});
    for (const PointerPair& pair : pairs.newlyRestricted)
        if (pair.isPassedEqual)
            return failure(VerdictStatus::Incorrect, "keeps pointers that may be equal",
                           fmt::format("the edit declares by __restrict__ that '{}' and '{}' do "
                                       "not overlap, and a launch in the file passes one pointer "
                                       "for both",
                                       pair.input, pair.output));
    const auto known = readOnlyLoadsOfWritten(original, pairs.equal);
    for (const ReadOnlyLoad& load : readOnlyLoadsOfWritten(candidate, pairs.equal))
        if (std::ranges::find(known, load.array, &ReadOnlyLoad::array) == known.end())
            return failure(VerdictStatus::Incorrect, "reads what it writes coherently",
                           fmt::format("{} reads '{}' through the read-only cache, which need not "
                                       "see what the kernel writes to it",
                                       placeOf(load, candidate), load.array));
    return std::nullopt;
}

} // namespace kernelskill::engine
