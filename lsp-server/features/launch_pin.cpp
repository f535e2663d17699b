#include "lsp-server/features/launch_pin.h"

#include "engine/execution/emulator/pin_example.h"
#include "engine/inputs/trial.h"
#include "lsp-server/report/hazard_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::lsp {

namespace {

analysis::TextEdit pinAbove(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                            const engine::LaunchSpec& launch) {
    const analysis::SourceText& source = snapshot.source();
    const std::uint32_t begin = source.lineSpan(source.lineColumn(kernel.span.begin).line).begin;
    return {{begin, begin},
            fmt::format("{}// {}\n", source.indentationAt(begin),
                        engine::emulator::pinExample(launch))};
}

} // namespace

std::optional<analysis::TextEdit> launchPinFor(const Snapshot& snapshot,
                                               const analysis::KernelModel& kernel) {
    const auto profile = snapshot.workbench->knowledge().cachedProfile({snapshot.program, kernel});
    if (!profile)
        return std::nullopt;
    const bool isGuess = profile->launch.origin == engine::LaunchOrigin::Guessed ||
                         std::ranges::any_of(profile->hazards, [&](const engine::Hazard& hazard) {
                             return mayBeTheGuess(hazard, profile->launch);
                         });
    if (!isGuess)
        return std::nullopt;
    return pinAbove(snapshot, kernel, engine::withExtents(profile->launch, profile->extents));
}

std::optional<analysis::TextEdit> guessedLaunchPinFor(const Snapshot& snapshot,
                                                      const analysis::KernelModel& kernel) {
    if (auto pin = launchPinFor(snapshot, kernel))
        return pin;
    const auto launch = snapshot.workbench->knowledge().launch({snapshot.program, kernel});
    if (!launch || !launch->isShapeGuessed)
        return std::nullopt;
    return pinAbove(snapshot, kernel, *launch);
}

} // namespace kernelskill::lsp
