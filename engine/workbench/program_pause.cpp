#include "engine/workbench/program_pause.h"

#include "engine/capture/kernel_symbol.h"
#include "engine/process/late_stop.h"
#include "engine/process/patient_lock.h"
#include "engine/workbench/memory_elements.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::engine {
namespace {

/// Adds the types behind pointers, and what the kernel only writes.
void addMemory(TryRequest& request, const analysis::KernelModel& kernel,
               const HeldDescription& held) {
    const auto& parameters = kernel.parameters;
    const auto& passed = held.launch.parameters;
    const auto arguments = kernelSymbol(held.launch.symbol).templateArguments;
    for (std::size_t i = 0; i < parameters.size() && i < passed.size(); ++i) {
        const auto& buffer = passed[i].buffer;
        if (!buffer || parameters[i].type.pointerDepth != 1)
            continue;
        request.elements.push_back(
            {buffer->address, buffer->bytes, memoryElementOf(kernel, parameters[i], arguments)});
        if (parameters[i].isWritten && !parameters[i].isRead && !parameters[i].escapes)
            request.onlyWritten.push_back(buffer->address);
    }
}

} // namespace

Result<std::unique_ptr<ProgramPause>>
ProgramPause::open(ProgramTrialOptions options, const std::string& kernel, std::stop_token stop) {
    std::unique_ptr<ProgramPause> opened(new ProgramPause(std::move(options), std::move(stop)));
    ReplayTarget target;
    target.cupti = opened->options_.cupti;
    target.kernel = kernel;
    auto session = ReplaySession::open(opened->options_.program, target, opened->stop_);
    if (!session)
        return std::unexpected(session.error());
    opened->held_ = (*session)->held();
    opened->session_ = std::move(*session);
    return opened;
}

std::string ProgramPause::architecture() const {
    return fmt::format("sm_{}{}", held_.capabilityMajor, held_.capabilityMinor);
}

std::string ProgramPause::program() const {
    return fmt::format("{}", fmt::join(options_.program.words, " "));
}

std::string ProgramPause::place() const {
    return fmt::format("{}, launch {}", program(), held_.launch.ordinal);
}

pid_t ProgramPause::process() const {
    const std::scoped_lock lock(mutex_);
    return session_->process();
}

std::vector<std::string> ProgramPause::restarts() const {
    const std::scoped_lock lock(mutex_);
    return session_->restarts();
}

Result<std::vector<ReplayedTrial>> ProgramPause::tryAll(std::vector<ReplayCandidate> candidates,
                                                        const analysis::KernelModel& kernel,
                                                        const TrialEffort& effort,
                                                        const std::stop_token& stop) {
    const auto lock = lockUnlessStopped(mutex_, stop);
    if (!lock)
        return std::unexpected(lock.error());
    if (stop.stop_requested())
        return std::unexpected(Error{ErrorKind::Cancelled, "nothing was tried", {}, {}});
    TryRequest request;
    request.candidates = std::move(candidates);
    request.checks = effort.checks;
    request.rounds = effort.rounds;
    request.limit = effort.limit;
    addMemory(request, kernel, session_->held());
    const LateStop late(stop, options_.patience, stop_);
    return session_->tryAll(std::move(request), options_.isExact, late.token());
}

Result<std::string> ProgramPause::resume(const std::stop_token& stop) {
    const auto lock = lockUnlessStopped(mutex_, stop);
    if (!lock)
        return std::unexpected(lock.error());
    const auto status = session_->resume(options_.program.restLimit, stop);
    if (!status && status.error().kind == ErrorKind::Cancelled)
        return std::unexpected(status.error());
    if (!status)
        return status.error().what + ", so it was ended";
    return *status == 0 ? std::string() : fmt::format("the program ended with status {}", *status);
}

} // namespace kernelskill::engine
