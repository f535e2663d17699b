#include "engine/workbench/program_trials.h"

#include "engine/capture/kernel_symbol.h"
#include "engine/inputs/launch_inference.h"
#include "engine/static_facts/device_code.h"

#include <spdlog/fmt/fmt.h>

#include <optional>
#include <utility>

namespace kernelskill::engine {
namespace {

MemoryElement elementOf(analysis::ScalarKind kind) {
    switch (kind) {
    case analysis::ScalarKind::Half:
        return MemoryElement::Float16;
    case analysis::ScalarKind::BFloat16:
        return MemoryElement::BFloat16;
    case analysis::ScalarKind::Float:
        return MemoryElement::Float32;
    case analysis::ScalarKind::Double:
        return MemoryElement::Float64;
    default:
        return MemoryElement::Bytes;
    }
}

Error refused(std::string why) {
    return {ErrorKind::Unsupported, std::move(why), {}, {}};
}

/// Unsupported if a launch of the old version says nothing of it.
Result<KernelRef> newVersion(const ProgramSource& after, const KernelChange& change) {
    if (change.isSignatureChanged)
        return std::unexpected(refused("the change gives the kernel other parameters"));
    const auto* kernel = analysis::kernelNamed(*after.model, change.name);
    if (kernel == nullptr)
        return std::unexpected(refused("the new version has no kernel '" + change.name + "'"));
    return KernelRef{after, *kernel};
}

} // namespace

Result<std::unique_ptr<KernelInProgram>>
KernelInProgram::open(const Machines& machines, const ProgramSource& before,
                      const std::string& kernel, const std::string& launchedAs,
                      ProgramTrialOptions options, const std::stop_token& stop) {
    const auto* old = analysis::kernelNamed(*before.model, kernel);
    if (old == nullptr)
        return std::unexpected(
            Error{ErrorKind::InvalidInput, "no kernel '" + kernel + "'", before.file, {}});
    std::unique_ptr<KernelInProgram> opened(
        new KernelInProgram(machines, {before, *old}, std::move(options)));
    ReplayTarget target;
    target.cupti = opened->options_.cupti;
    target.kernel = launchedAs;
    auto session = ReplaySession::open(opened->options_.program, target, stop);
    if (!session)
        return std::unexpected(session.error());
    opened->session_ = std::move(*session);
    return opened;
}

Result<ProgramTrial> KernelInProgram::tryVersion(const ProgramSource& after,
                                                 const KernelChange& change,
                                                 const std::stop_token& stop) {
    const auto kernel = newVersion(after, change);
    if (!kernel)
        return std::unexpected(kernel.error());
    const auto launch = editedLaunch(*kernel, change);
    if (!launch)
        return std::unexpected(launch.error());
    if (!old_) {
        auto compiled = candidateOf(before_, stop);
        if (!compiled)
            return std::unexpected(compiled.error());
        old_ = std::move(*compiled);
    }
    auto candidate = candidateOf(*kernel, stop);
    if (!candidate)
        return std::unexpected(candidate.error());
    if (*launch) {
        const LaunchSpec& edited = **launch;
        candidate->grid = {edited.grid.x, edited.grid.y, edited.grid.z};
        candidate->block = {edited.block.x, edited.block.y, edited.block.z};
        candidate->sharedBytes = edited.dynamicSharedBytes;
    }
    TryRequest request;
    request.candidates = {*old_, std::move(*candidate)};
    addMemory(request);
    const auto trials = session_->tryAll(std::move(request), options_.isExact, stop);
    if (!trials)
        return std::unexpected(trials.error());
    return judgeInProgram(held(), trials->at(0), trials->at(1));
}

Result<ReplayCandidate> KernelInProgram::candidateOf(KernelRef kernel,
                                                     const std::stop_token& stop) const {
    const CapturedLaunch& launch = held().launch;
    auto code = deviceCode(kernel, kernelSymbol(launch.symbol).templateArguments,
                           fmt::format("sm_{}{}", held().capabilityMajor, held().capabilityMinor),
                           machines_.factsOptions(), stop);
    if (!code)
        return std::unexpected(code.error());
    return ReplayCandidate{std::move(code->cubin), code->facts.symbol, launch.grid, launch.block,
                           launch.sharedBytes};
}

/// The new version's launch on the held arguments; nullopt if it is that of the program.
Result<std::optional<LaunchSpec>> KernelInProgram::editedLaunch(KernelRef after,
                                                                const KernelChange& change) const {
    StoredCaptures captures;
    captures.launches.push_back({held().launch, kernelSymbol(held().launch.symbol), {}});
    const auto known = capturedLaunches(*before_.program.model, before_.kernel, captures);
    if (known.launches.empty()) {
        if (!change.isLaunchChanged)
            return std::nullopt;
        return std::unexpected(refused(
            "the change is of the launch as well, and the program's arguments do not tell the new "
            "one" +
            (known.refusals.empty() ? std::string() : ": " + known.refusals.front())));
    }
    auto edited = editedCapture({*before_.program.model, before_.kernel},
                                {*after.program.model, after.kernel}, known.launches.front());
    if (!edited)
        return std::unexpected(edited.error());
    return std::optional(std::move(*edited));
}

/// The types behind pointers, and what the old version only writes.
void KernelInProgram::addMemory(TryRequest& request) const {
    const auto& parameters = before_.kernel.parameters;
    const auto& passed = held().launch.parameters;
    for (std::size_t i = 0; i < parameters.size() && i < passed.size(); ++i) {
        const auto& buffer = passed[i].buffer;
        if (!buffer || parameters[i].type.pointerDepth != 1)
            continue;
        request.elements.push_back(
            {buffer->address, buffer->bytes, elementOf(parameters[i].type.scalar)});
        if (parameters[i].isWritten && !parameters[i].isRead && !parameters[i].escapes)
            request.onlyWritten.push_back(buffer->address);
    }
}

Result<std::string> KernelInProgram::resume(const std::stop_token& stop) {
    const auto status = session_->resume(options_.program.restLimit, stop);
    if (!status && status.error().kind == ErrorKind::Cancelled)
        return std::unexpected(status.error());
    if (!status)
        return status.error().what + ", so it was ended";
    return *status == 0 ? std::string() : fmt::format("the program ended with status {}", *status);
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
    if (const auto version = newVersion(after, change); !version)
        return notJudged(version.error());
    auto kernel =
        KernelInProgram::open(machines, before, change.name,
                              change.oldName.empty() ? change.name : change.oldName, options, stop);
    if (!kernel)
        return notJudged(kernel.error());
    const auto tried = (*kernel)->tryVersion(after, change, stop);
    auto trial = tried ? finished(*tried) : notJudged(tried.error());
    if (!trial)
        return trial;
    const auto end = (*kernel)->resume(stop);
    if (!end)
        return std::unexpected(end.error());
    if (!end->empty())
        trial->notes.push_back(*end);
    return trial;
}

} // namespace kernelskill::engine
