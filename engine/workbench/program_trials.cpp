#include "engine/workbench/program_trials.h"

#include "engine/capture/kernel_symbol.h"
#include "engine/inputs/launch_inference.h"
#include "engine/replay/replay_session.h"
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

/// One kernel at one launch.
class KernelInProgram {
public:
    KernelInProgram(const Machines& machines, KernelRef before, KernelRef after,
                    const KernelChange& change, const HeldDescription& held, std::stop_token stop)
        : machines_(machines), before_(before), after_(after), change_(change), held_(held),
          symbol_(kernelSymbol(held.launch.symbol)), stop_(std::move(stop)) {}

    Result<TryRequest> request() {
        if (change_.isSignatureChanged)
            return std::unexpected(refused("the change gives the kernel other parameters"));
        TryRequest request;
        auto launch = held_.launch;
        auto edited = editedLaunch();
        if (!edited)
            return std::unexpected(edited.error());
        for (const auto& [kernel, shape] :
             {std::pair{before_, std::optional<LaunchSpec>()}, std::pair{after_, *edited}}) {
            auto code = deviceCode(kernel, symbol_.templateArguments, architecture(),
                                   machines_.factsOptions(), stop_);
            if (!code)
                return std::unexpected(code.error());
            ReplayCandidate candidate{std::move(code->cubin), code->facts.symbol, launch.grid,
                                      launch.block,           launch.sharedBytes, std::nullopt};
            if (shape) {
                candidate.grid = {shape->grid.x, shape->grid.y, shape->grid.z};
                candidate.block = {shape->block.x, shape->block.y, shape->block.z};
                candidate.sharedBytes = shape->dynamicSharedBytes;
            }
            request.candidates.push_back(std::move(candidate));
        }
        addMemory(request);
        return request;
    }

private:
    static Error refused(std::string why) {
        return {ErrorKind::Unsupported, std::move(why), {}, {}};
    }
    [[nodiscard]] std::string architecture() const {
        return fmt::format("sm_{}{}", held_.capabilityMajor, held_.capabilityMinor);
    }

    /// The new version's launch on the held arguments; nullopt if it is that of the program.
    Result<std::optional<LaunchSpec>> editedLaunch() const {
        StoredCaptures captures;
        captures.launches.push_back({held_.launch, symbol_, {}});
        const auto known = capturedLaunches(*before_.program.model, before_.kernel, captures);
        if (known.launches.empty()) {
            if (!change_.isLaunchChanged)
                return std::nullopt;
            return std::unexpected(refused(
                "the change is of the launch as well, and the program's arguments do not tell the "
                "new one" +
                (known.refusals.empty() ? std::string() : ": " + known.refusals.front())));
        }
        auto edited = editedCapture({*before_.program.model, before_.kernel},
                                    {*after_.program.model, after_.kernel}, known.launches.front());
        if (!edited)
            return std::unexpected(edited.error());
        return std::optional(std::move(*edited));
    }

    /// The types behind pointers, and what the old version only writes.
    void addMemory(TryRequest& request) const {
        const auto& parameters = before_.kernel.parameters;
        const auto& passed = held_.launch.parameters;
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

    const Machines& machines_;
    KernelRef before_;
    KernelRef after_;
    const KernelChange& change_;
    const HeldDescription& held_;
    KernelSymbol symbol_;
    std::stop_token stop_;
};

ProgramTrial notJudged(const Error& error) {
    ProgramTrial trial;
    trial.sentence = error.describe();
    return trial;
}

} // namespace

Result<ProgramTrial> tryInProgram(const Machines& machines, const ProgramSource& before,
                                  const ProgramSource& after, const KernelChange& change,
                                  const ProgramTrialOptions& options, const std::stop_token& stop) {
    const auto finished = [&](ProgramTrial trial) {
        trial.program = fmt::format("{}", fmt::join(options.program.words, " "));
        return trial;
    };
    const auto unless = [&](const Error& error) -> Result<ProgramTrial> {
        if (error.kind == ErrorKind::Cancelled)
            return std::unexpected(error);
        return finished(notJudged(error));
    };
    const auto* old = analysis::kernelNamed(*before.model, change.name);
    const auto* edited = analysis::kernelNamed(*after.model, change.name);
    if (old == nullptr || edited == nullptr)
        return unless({ErrorKind::Internal, "a version lacks the kernel", change.name, {}});
    ReplayTarget target;
    target.cupti = options.cupti;
    target.kernel = change.oldName.empty() ? change.name : change.oldName;
    auto session = ReplaySession::open(options.program, target, stop);
    if (!session)
        return unless(session.error());
    const HeldDescription held = (*session)->held();
    auto request =
        KernelInProgram(machines, {before, *old}, {after, *edited}, change, held, stop).request();
    if (!request)
        return unless(request.error());
    const auto trials = (*session)->tryAll(std::move(*request), options.isExact, stop);
    if (!trials)
        return unless(trials.error());
    ProgramTrial trial = judgeInProgram(held, trials->at(0), trials->at(1));
    const auto status = (*session)->resume(options.restLimit, stop);
    if (!status && status.error().kind == ErrorKind::Cancelled)
        return std::unexpected(status.error());
    if (!status)
        trial.notes.push_back(status.error().what + ", so it was ended");
    else if (*status != 0)
        trial.notes.push_back(fmt::format("the program ended with status {}", *status));
    return finished(std::move(trial));
}

} // namespace kernelskill::engine
