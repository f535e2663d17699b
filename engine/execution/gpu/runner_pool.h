/// Runners, one a GPU, as their user sees them: questions in, answers out, whatever happens to the
/// processes and wherever they are.
#pragma once

#include "engine/execution/gpu/runner_wire.h"
#include "engine/execution/gpu/slurm_job.h"
#include "engine/process/framed_child.h"

#include <chrono>
#include <condition_variable>
#include <filesystem>
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

struct RunnerCommand {
    std::filesystem::path executable;        ///< kernelskill-runner
    std::filesystem::path cuptiLibrary = {}; ///< Empty: the loader searches.
    /// Put in front of the executable, like "env" and variables; empty: nothing.
    std::vector<std::string> prefix = {};
    std::optional<SlurmJob> slurm =
        std::nullopt; ///< On nodes of a cluster; nullopt: on this machine.
};

/// Called with what is waited for, in a user's words. May be empty.
using WaitSink = std::function<void(std::string_view)>;

/// Thread-safe.
class RunnerPool {
public:
    /// Starts the first runner and asks for its GPU. On Slurm that waits in the queue, without a
    /// limit. Missing, with the remedy, without runner, driver, GPU or srun.
    [[nodiscard]] static Result<std::unique_ptr<RunnerPool>>
    open(RunnerCommand command, std::stop_token stop, const WaitSink& onWait = {});
    ~RunnerPool();

    /// The first GPU. Jobs run on it and on others of its model.
    [[nodiscard]] const DeviceDescription& device() const { return *device_; }

    /// Waits for a free GPU and asks it. A runner that dies without an answer is replaced and the
    /// question asked again, `maxAttempts` times in all; one whose context a kernel destroyed is
    /// replaced for the next question. The time limit of a question begins when its runner is
    /// there; a job that Slurm has ended is not asked again.
    [[nodiscard]] Result<Answer> ask(const Request& request, std::stop_token stop,
                                     const WaitSink& onWait = {});

    /// Waits until a runner is there, so that the next question need not wait for its start.
    [[nodiscard]] Result<void> awaitRunner(std::stop_token stop, const WaitSink& onWait);

    static constexpr int maxAttempts = 5;

private:
    using Clock = std::chrono::steady_clock;

    struct Seat {
        int device = 0;
        bool isTaken = false;
        bool isMet = false;   ///< Its GPU is known,
        bool isOther = false; ///< and of another model than the first, so that it is left alone.
        std::unique_ptr<FramedChild> runner; ///< Null until it is needed.
        Clock::time_point lastUsed;
    };

    struct Attempt {
        Result<Answer> answer;
        bool mayRepeat = false; ///< The runner died, for whatever reason.
        std::string said;       ///< By it before, where its messages are kept.
    };

    explicit RunnerPool(RunnerCommand command) : command_(std::move(command)) {}

    [[nodiscard]] Result<std::unique_ptr<FramedChild>> start(int device) const;
    [[nodiscard]] Result<Seat*> take(const std::stop_token& stop);
    void giveBack(Seat& seat);
    /// Calls `use` with a free seat, and again while runners die.
    [[nodiscard]] Result<Answer> withSeat(const std::stop_token& stop,
                                          const std::function<Attempt(Seat&)>& use);
    /// Starts a runner where there is none. Its answer is the GPU's description.
    [[nodiscard]] Attempt provide(Seat& seat, const std::stop_token& stop, const WaitSink& onWait);
    /// Asks a new runner for its GPU.
    [[nodiscard]] Attempt meet(Seat& seat, const std::stop_token& stop, const WaitSink& onWait);
    [[nodiscard]] Attempt exchange(Seat& seat, const Request& request,
                                   std::chrono::milliseconds limit, const std::stop_token& stop,
                                   const LineSink& onMessage) const;
    /// Ends runners that nobody has asked for a while.
    void releaseIdle(const std::stop_token& stop);

    RunnerCommand command_;
    std::optional<DeviceDescription> device_; ///< Known once open() has returned.
    std::mutex mutex_;
    std::condition_variable_any freed_;
    std::vector<Seat> seats_;
    std::jthread keeper_; ///< Of jobs on a cluster.
};

} // namespace kernelskill::engine::gpu
