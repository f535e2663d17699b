#include "engine/replay/recorder/launch_holder.h"

#include "engine/capture/kernel_symbol.h"
#include "engine/process/frame_io.h"
#include "engine/process/unix_socket.h"
#include "engine/replay/recorder/held_launch.h"
#include "engine/replay/recorder/own_calls.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sys/socket.h>

namespace kernelskill::engine::replay {
namespace {

/// False if the server is gone, which must not end the program.
bool send(int socket, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const auto count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR)
            return false;
        if (count > 0)
            bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

/// Opens the gate at its end, if it was closed.
class ClosedGate {
public:
    ClosedGate(CallGate& gate, std::chrono::milliseconds time)
        : gate_(gate), isClosed_(gate.close(time)) {}
    ClosedGate(const ClosedGate&) = delete;
    ClosedGate& operator=(const ClosedGate&) = delete;
    ~ClosedGate() {
        if (isClosed_)
            gate_.open();
    }
    [[nodiscard]] bool isClosed() const { return isClosed_; }

private:
    CallGate& gate_;
    bool isClosed_;
};

/// Owns the held launch. The destructor restores the memory, also after an exception. If it cannot,
/// it ends the program, which must not go on with other memory or a lost context.
class Hold {
public:
    Hold(const capture::DriverFunctions& driver, const ReplayTarget& target)
        : launch_(driver, target) {}
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() {
        try {
            if (const auto restored = launch_.restore(); !restored)
                endProgram(restored.error().what.c_str());
        } catch (const std::exception& problem) {
            endProgram(problem.what());
        }
    }
    [[nodiscard]] HeldLaunch& launch() { return launch_; }

private:
    /// Runs no destructor, since one would wait for the kernel that does not end.
    [[noreturn]] static void endProgram(const char* why) {
        std::fprintf(stderr,
                     "kernelskill: the program is ended, because its memory on the GPU cannot be "
                     "restored: %s\n",
                     why);
        std::_Exit(EXIT_FAILURE);
    }

    HeldLaunch launch_;
};

} // namespace

bool LaunchHolder::begin(const capture::LaunchCall& call) noexcept {
    try {
        if (isOver_ || call.symbol == nullptr || !isWanted(call.symbol) || memory_.isCapturing() ||
            isCaptured(call.stream))
            return false;
        // Two threads may come here at once, before either launch is counted.
        if (launches_ + 1 >= target_.ordinal && !isOver_.exchange(true))
            hold(call);
        return true;
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s%s\n", notHeldPrefix.data(), problem.what());
        return false;
    }
}

bool LaunchHolder::isWanted(const std::string& symbol) {
    const std::scoped_lock lock(mutex_);
    const auto known = wanted_.find(symbol);
    if (known != wanted_.end())
        return known->second;
    const bool isNamed =
        symbol == target_.kernel || kernelSymbol(symbol).qualifiedName == target_.kernel;
    wanted_.emplace(symbol, isNamed);
    return isNamed;
}

/// Whether the launch only becomes part of a graph. While another stream of the context is
/// captured, the legacy stream cannot be queried.
bool LaunchHolder::isCaptured(CUstream stream) const {
    const OwnCalls own;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return driver_.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void LaunchHolder::hold(const capture::LaunchCall& call) {
    const OwnCalls own;
    // The connection fails if the server is gone, or if it holds another process already.
    if (const FileDescriptor socket = connectedSocket(target_.socket); socket.isOpen())
        serve(socket.get(), call);
}

void LaunchHolder::serve(int socket, const capture::LaunchCall& call) {
    const ClosedGate gate(gate_, std::chrono::milliseconds(target_.waitMilliseconds));
    Hold hold(driver_, target_);
    HeldLaunch& held = hold.launch();
    Result<void> ready =
        std::unexpected(Error{ErrorKind::Unsupported,
                              "calls of the program's other threads did not end in " +
                                  std::to_string(target_.waitMilliseconds) + " ms",
                              {},
                              {}});
    if (gate.isClosed())
        ready = held.prepare(call, memory_);
    while (const auto payload = wire::readPayload(socket)) {
        const auto request = decodeReplayRequest(*payload);
        ReplayAnswer answer;
        if (!request)
            answer = ReplayFailure{request.error(), false, std::nullopt, {}};
        else if (std::holds_alternative<ResumeRequest>(*request))
            break;
        else if (!ready)
            answer = ReplayFailure{ready.error(), held.isLost(), std::nullopt, {}};
        else if (const auto* trial = std::get_if<TryRequest>(&*request))
            answer = held.answer(*trial);
        else
            answer = held.description();
        if (!send(socket, encode(answer)))
            break;
    }
}

} // namespace kernelskill::engine::replay
