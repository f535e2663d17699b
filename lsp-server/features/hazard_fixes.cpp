#include "lsp-server/features/hazard_fixes.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::lsp {

namespace {

bool isAt(const Snapshot& snapshot, const engine::Hazard& hazard, analysis::Span range) {
    const auto isOn = [&](const std::string& file, std::uint32_t line) {
        return file == snapshot.model().file && snapshot.source().lineSpan(line).touches(range);
    };
    return isOn(hazard.file, hazard.line) || isOn(hazard.otherFile, hazard.otherLine);
}

/// Calls `see` for each kernel at `range` that was profiled and has a hazard.
template <typename See>
void forEachHazardous(const Snapshot& snapshot, analysis::Span range, See see) {
    for (const analysis::KernelModel& kernel : snapshot.model().kernels) {
        if (!snapshot.isInMainFile(kernel) || !kernel.span.touches(range))
            continue;
        const auto profile =
            snapshot.workbench->knowledge().cachedProfile({snapshot.program, kernel});
        if (profile && !profile->hazards.empty())
            see(kernel, profile->hazards);
    }
}

void addFixes(const Snapshot& snapshot, const analysis::KernelModel& kernel,
              const std::vector<engine::Hazard>& hazards, std::optional<analysis::Span> range,
              std::vector<HazardFixAt>& found) {
    const auto fixes = snapshot.workbench->hazardFixes().cached({snapshot.program, kernel});
    if (!fixes)
        return;
    for (const engine::HazardFix& fix : *fixes) {
        if (fix.hazard >= hazards.size() || (range && !isAt(snapshot, hazards[fix.hazard], *range)))
            continue;
        const auto same = std::ranges::find_if(found, [&](const HazardFixAt& other) {
            return other.kernel == &kernel && other.fix.edits == fix.edits &&
                   other.hazards.front().kind == hazards[fix.hazard].kind;
        });
        if (same == found.end())
            found.push_back({&kernel, fix, {hazards[fix.hazard]}});
        else
            same->hazards.push_back(hazards[fix.hazard]);
    }
}

} // namespace

std::string HazardFixAt::title() const {
    return fmt::format("Fix {}: {}", spelling(hazards.front().kind), fix.title);
}

analysis::EditSet HazardFixAt::edits(const Snapshot& snapshot) const {
    return {{snapshot.model().file, fix.edits}};
}

std::vector<HazardFixAt> hazardFixesAt(const Snapshot& snapshot, analysis::Span range) {
    std::vector<HazardFixAt> found;
    forEachHazardous(snapshot, range, [&](const auto& kernel, const auto& hazards) {
        addFixes(snapshot, kernel, hazards, range, found);
    });
    return found;
}

std::optional<HazardFixAt> findHazardFix(const Snapshot& snapshot, const std::string& kernel,
                                         const std::string& title) {
    const auto* named = findKernel(snapshot, kernel);
    if (named == nullptr)
        return std::nullopt;
    std::vector<HazardFixAt> found;
    forEachHazardous(snapshot, named->span, [&](const auto& candidate, const auto& hazards) {
        if (&candidate == named)
            addFixes(snapshot, candidate, hazards, std::nullopt, found);
    });
    const auto same = std::ranges::find(found, title, &HazardFixAt::title);
    return same == found.end() ? std::nullopt : std::optional(std::move(*same));
}

std::vector<const analysis::KernelModel*> kernelsWithoutHazardFixes(const Snapshot& snapshot,
                                                                    analysis::Span range) {
    std::vector<const analysis::KernelModel*> kernels;
    forEachHazardous(snapshot, range, [&](const auto& kernel, const auto& hazards) {
        const bool isHere = std::ranges::any_of(
            hazards, [&](const engine::Hazard& hazard) { return isAt(snapshot, hazard, range); });
        if (isHere && !snapshot.workbench->hazardFixes().cached({snapshot.program, kernel}))
            kernels.push_back(&kernel);
    });
    return kernels;
}

} // namespace kernelskill::lsp
