#include "engine/workbench/program_trials.h"

#include "engine/capture/kernel_symbol.h"
#include "engine/inputs/launch_inference.h"
#include "engine/review/program_comparison.h"

#include <spdlog/fmt/fmt.h>

#include <memory>
#include <optional>
#include <utility>

namespace kernelskill::engine {
namespace {

Error refused(std::string why) {
    return {ErrorKind::Unsupported, std::move(why), {}, {}};
}

/// Unsupported if the program's launch does not fit both versions: the new one may take integers
/// behind what the old one takes.
Result<void> takeTheSame(const analysis::KernelModel& before, const analysis::KernelModel& after) {
    if (signatureOf(before) != signatureOf(after) && !takesArgumentsOf(after, before))
        return std::unexpected(refused("the change gives the kernel other parameters"));
    if (before.templateParameters.size() != after.templateParameters.size())
        return std::unexpected(refused("the change gives the kernel other template parameters"));
    return {};
}

/// The launch as it is held, of the kernel that the program was built with.
LaunchSpec shapeOf(const CapturedLaunch& held, const std::string& kernel) {
    LaunchSpec launch;
    launch.origin = LaunchOrigin::Captured;
    launch.kernel = kernel;
    launch.templateArguments = kernelSymbol(held.symbol).templateArguments;
    launch.grid = {held.grid[0], held.grid[1], held.grid[2]};
    launch.block = {held.block[0], held.block[1], held.block[2]};
    launch.dynamicSharedBytes = held.sharedBytes;
    return launch;
}

} // namespace

KernelInProgram::KernelInProgram(const Machines& machines, ProgramPause& pause, KernelRef original)
    : machines_(machines), pause_(pause), original_(original),
      heldLaunch_(
          capturedNumbers({original.file(), original.kernel},
                          {pause.held().launch, kernelSymbol(pause.held().launch.symbol), {}})) {}

Result<DeviceCode> KernelInProgram::codeOf(KernelRef version, const LaunchSpec& launch,
                                           CodeFor purpose, const std::stop_token& stop) const {
    StaticFactsOptions options = machines_.factsOptions();
    const auto compiled = [&] {
        return deviceCode(version, launch.templateArguments, pause_.architecture(), options, stop);
    };
    if (purpose == CodeFor::Glance) {
        options.preferNvcc = false;
        auto code = compiled();
        if (code || stop.stop_requested())
            return code;
        options.preferNvcc = true;
    }
    return compiled();
}

Result<VersionInProgram> KernelInProgram::versionOf(KernelRef version, const std::stop_token& stop,
                                                    CodeFor purpose) const {
    if (auto same = takeTheSame(original_.kernel, version.kernel); !same)
        return std::unexpected(same.error());
    auto launch = launchOf(version);
    if (!launch)
        return std::unexpected(launch.error());
    auto code = codeOf(version, *launch, purpose, stop);
    if (!code)
        return std::unexpected(code.error());
    ReplayCandidate candidate{std::move(code->cubin),
                              code->facts.symbol,
                              {launch->grid.x, launch->grid.y, launch->grid.z},
                              {launch->block.x, launch->block.y, launch->block.z},
                              launch->dynamicSharedBytes,
                              {}};
    for (std::size_t i = original_.kernel.parameters.size(); i < launch->arguments.size(); ++i)
        if (const auto* scalar = std::get_if<ScalarSpec>(&launch->arguments[i])) {
            const auto* bytes = reinterpret_cast<const std::uint8_t*>(scalar->bytes.data());
            candidate.added.emplace_back(bytes, bytes + scalar->bytes.size());
        }
    return VersionInProgram{std::move(code->facts), std::move(*launch), std::move(candidate)};
}

Result<std::vector<ReplayedTrial>> KernelInProgram::tryAll(std::vector<ReplayCandidate> candidates,
                                                           const TrialEffort& effort,
                                                           const std::stop_token& stop) const {
    std::optional<GpuExecutor::Alone> alone;
    if (const GpuExecutor* gpu = machines_.openedGpu(); gpu != nullptr) {
        auto held = gpu->holdRuns(stop);
        if (!held)
            return std::unexpected(held.error());
        alone = std::move(*held);
    }
    return pause_.tryAll(std::move(candidates), original_.kernel, effort, stop);
}

Result<LaunchSpec> KernelInProgram::launchOf(KernelRef version) const {
    const auto& known = heldLaunch_;
    if (known) {
        auto edited = editedCapture({original_.file(), original_.kernel},
                                    {version.file(), version.kernel}, *known);
        if (!edited)
            edited.error().kind = ErrorKind::Unsupported;
        return edited;
    }
    if (!ProgramComparison(original_.file(), version.file())
             .launchesDiffer(original_.kernel, version.kernel))
        return shapeOf(pause_.held().launch, version.kernel.qualifiedName);
    return std::unexpected(refused("the change is of the launch as well, and the program's "
                                   "arguments do not tell the new one: " +
                                   known.error().what));
}

Result<ProgramTrial> tryInProgram(const Machines& machines, const ProgramSource& before,
                                  const ProgramSource& after, const KernelChange& change,
                                  const ProgramTrialOptions& options, const std::stop_token& stop) {
    const auto finished = [&](ProgramTrial trial) -> Result<ProgramTrial> {
        trial.program = fmt::format("{}", fmt::join(options.program.words, " "));
        return trial;
    };
    const auto notJudged = [&](const Error& error) -> Result<ProgramTrial> {
        if (error.kind == ErrorKind::Cancelled)
            return std::unexpected(error);
        ProgramTrial trial;
        trial.sentence = error.describe();
        return finished(std::move(trial));
    };
    const auto* old = analysis::kernelNamed(*before.model, change.name);
    const auto* changed = analysis::kernelNamed(*after.model, change.name);
    if (old == nullptr || changed == nullptr)
        return notJudged(refused((old == nullptr ? "the old" : "the new") +
                                 (" version has no kernel '" + change.name + "'")));
    if (const auto same = takeTheSame(*old, *changed); !same)
        return notJudged(same.error());
    const auto pause =
        ProgramPause::open(options, change.oldName.empty() ? change.name : change.oldName, stop);
    if (!pause)
        return notJudged(pause.error());
    const KernelInProgram kernel(machines, **pause, {before, *old});
    const auto tried = [&]() -> Result<ProgramTrial> {
        auto original = kernel.versionOf({before, *old}, stop);
        if (!original)
            return std::unexpected(original.error());
        auto version = kernel.versionOf({after, *changed}, stop);
        if (!version)
            return std::unexpected(version.error());
        const auto trials = kernel.tryAll(
            {std::move(original->candidate), std::move(version->candidate)}, {}, stop);
        if (!trials)
            return std::unexpected(trials.error());
        return judgeInProgram((*pause)->held(), trials->at(0), trials->at(1));
    }();
    auto trial = tried ? finished(*tried) : notJudged(tried.error());
    if (!trial)
        return trial;
    const auto end = (*pause)->resume(stop);
    if (!end)
        return std::unexpected(end.error());
    if (!end->empty())
        trial->notes.push_back(*end);
    return trial;
}

} // namespace kernelskill::engine
