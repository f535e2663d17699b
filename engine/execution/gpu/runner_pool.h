/// A pool of runners, one per GPU. It answers requests even if processes die, on this machine or on
/// a cluster.
#pragma once

#include "engine/execution/gpu/runner_wire.h"
#include "engine/execution/gpu/start_runner.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kernelskill::engine::gpu {

/// Called with a text for users that says what is waited for. May be empty.
using WaitSink = std::function<void(std::string_view)>;

/// Thread-safe.
class RunnerPool {
public:
    /// Starts the first runner and gets its GPU's description. On Slurm that waits in the queue
    /// without a limit. Missing, with a remedy, if there is no runner, driver, GPU or srun.
    [[nodiscard]] static Result<std::unique_ptr<RunnerPool>>
    open(RunnerCommand command, std::stop_token stop, const WaitSink& onWait = {});
    ~RunnerPool();

    /// The first GPU. Jobs run on it and on others of its model.
    [[nodiscard]] const DeviceDescription& device() const { return *device_; }

    /// Waits for a free GPU and sends the request. If a runner dies without an answer, it is
    /// replaced and the request sent again, `maxAttempts` times in total. If a kernel destroyed its
    /// runner's context, the runner is replaced for the next request. The time limit of a request
    /// begins when its runner is ready. A job that Slurm has ended is not repeated.
    [[nodiscard]] Result<Answer> ask(const Request& request, std::stop_token stop,
                                     const WaitSink& onWait = {});

    /// Waits until a runner is ready, so that the next request need not wait for its start.
    [[nodiscard]] Result<void> awaitRunner(std::stop_token stop, const WaitSink& onWait);

    static constexpr int maxAttempts = 5;

private:
    using Clock = std::chrono::steady_clock;

    struct Seat {
        int device = 0;
        bool isTaken = false;
        bool isMet = false; ///< Whether its GPU is known.
        /// Whether its GPU is another model than the first one; then it is not used.
        bool isOther = false;
        std::unique_ptr<FramedChild> runner; ///< Null until it is needed.
        Clock::time_point lastUsed;
    };

    struct Attempt {
        Result<Answer> answer;
        bool mayRepeat = false; ///< The runner died, for any reason.
        std::string said;       ///< The runner's messages so far, if they are kept.
    };

    explicit RunnerPool(RunnerCommand command) : command_(std::move(command)) {}

    [[nodiscard]] Result<Seat*> take(const std::stop_token& stop);
    void giveBack(Seat& seat);
    /// Calls `use` with a free seat, and again if the runner dies.
    [[nodiscard]] Result<Answer> withSeat(const std::stop_token& stop,
                                          const std::function<Attempt(Seat&)>& use);
    /// Starts a runner if there is none. Its answer is the GPU's description.
    [[nodiscard]] Attempt provide(Seat& seat, const std::stop_token& stop, const WaitSink& onWait);
    /// Gets the GPU's description from a new runner.
    [[nodiscard]] Attempt meet(Seat& seat, const std::stop_token& stop, const WaitSink& onWait);
    [[nodiscard]] Attempt exchange(Seat& seat, const Request& request,
                                   std::chrono::milliseconds limit, const std::stop_token& stop,
                                   const LineSink& onMessage) const;
    /// Ends runners that were idle for a while.
    void releaseIdle(const std::stop_token& stop);

    RunnerCommand command_;
    std::optional<DeviceDescription> device_; ///< Set when open() returns.
    std::mutex mutex_;
    std::condition_variable_any freed_;
    std::vector<Seat> seats_;
    std::jthread keeper_; ///< Watches over jobs on a cluster.
};

} // namespace kernelskill::engine::gpu
