#include "lsp-server/program/program_profiling.h"

#include "analysis/source/files.h"
#include "analysis/source/try.h"
#include "engine/program/command_words.h"
#include "engine/review/timing_verdict.h"
#include "engine/timeline/timeline_summary.h"

#include <algorithm>
#include <utility>

namespace kernelskill::lsp {

namespace fs = std::filesystem;
using engine::KernelShare;

namespace {

Result<engine::KernelReport> detailsOf(const KernelShare& kernel, CapturedKernels& kernels,
                                       const engine::StoredCaptures& captures,
                                       const DetailsRun& run) {
    if (std::ranges::none_of(captures.launches, [&](const engine::StoredLaunch& stored) {
            return stored.launch.symbol == kernel.times.symbol;
        }))
        return std::unexpected(Error{ErrorKind::Failed, "no launch of it was captured",
                                     kernel.times.name,
                                     "launches of graphs cannot be (docs/captures.md)"});
    KERNELSKILL_TRY(const auto opened, kernels.open(*kernel.place, kernel.times.symbol));
    const engine::KernelRef ref{opened.snapshot->program, *opened.kernel};
    const auto& profiler = kernels.workbench().profiler();
    return run.onGpu ? profiler.profileOnGpu(ref, run.stop, {})
                     : profiler.profile(ref, run.stop, {});
}

} // namespace

Result<fs::path> placeInWorkspace(engine::Workload& workload, const fs::path& root) {
    const auto canonicalRoot = analysis::canonicalPath(root);
    const auto folder = analysis::canonicalPath(workload.folder);
    if (!analysis::isBelow(folder, canonicalRoot))
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     "the program runs outside of the workspace", folder.string(),
                                     "correct `folder` of the program"});
    workload.folder = folder;
    return folder.lexically_relative(canonicalRoot);
}

Result<void> buildWorkload(const engine::Workload& workload, engine::WorkloadRunOptions options,
                           const std::stop_token& stop) {
    if (workload.build.empty())
        return {};
    options.builds = true;
    options.runs = false;
    KERNELSKILL_TRY(const auto done, engine::runWorkload(workload, options, stop));
    if (done.failure)
        return std::unexpected(*done.failure);
    return {};
}

ProgramProfileReport reportOf(const engine::Workload& workload, const RecordedTimeline& recorded,
                              const engine::KernelPlaces& places, const fs::path& folder) {
    ProgramProfileReport report;
    report.command = workload.command;
    report.status = recorded.status;
    report.dropped = recorded.file.dropped;
    report.profile =
        engine::programProfile(engine::summaryOf(recorded.file.activities), places, folder);
    report.details.resize(report.profile.kernels.size());
    return report;
}

std::vector<std::size_t> wantedKernels(const engine::ProgramProfile& profile,
                                       const std::string& name) {
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < profile.kernels.size(); ++i) {
        const KernelShare& kernel = profile.kernels[i];
        if (kernel.place && (name.empty() ? kernel.isHot() : kernel.place->isNamed(name)))
            wanted.push_back(i);
    }
    return wanted;
}

Result<RecordedCaptures> captureWanted(const ProgramProfileReport& report,
                                       const std::vector<std::size_t>& wanted,
                                       const fs::path& folder, const Options& options,
                                       const ProgramStart& start) {
    engine::Recording recording;
    recording.program = engine::commandText(report.command);
    for (const std::size_t at : wanted)
        recording.kernels.push_back(report.profile.kernels[at].times.symbol);
    return recordCaptures(folder, std::move(recording), options, start);
}

Result<std::string> findDurations(ProgramProfileReport& report, const Options& options,
                                  const ProgramStart& start) {
    KERNELSKILL_TRY(auto recorded, recordDurations(options, start));
    for (const auto& [symbol, times] : recorded.durations.bySymbol)
        report.alone[symbol] = engine::summarise(times).median;
    return std::move(recorded.durations.problem);
}

void findDetails(ProgramProfileReport& report, const std::vector<std::size_t>& wanted,
                 CapturedKernels& kernels, const engine::StoredCaptures& captures,
                 const DetailsRun& run) {
    for (const std::size_t at : wanted) {
        const KernelShare& kernel = report.profile.kernels[at];
        run.onKernel(kernel);
        report.details[at] = detailsOf(kernel, kernels, captures, run);
    }
}

} // namespace kernelskill::lsp
