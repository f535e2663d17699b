/// Runners, one a GPU, as their user sees them: questions in, answers out, whatever happens to the
/// processes.
#pragma once

#include "engine/execution/framed_child.h"
#include "engine/execution/gpu/runner_wire.h"

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine::gpu {

struct RunnerCommand {
    std::filesystem::path executable;   ///< kernelskill-runner
    std::filesystem::path cuptiLibrary; ///< Empty: the loader searches.
    /// Put in front of the executable, like "srun" and its options; empty for this machine.
    std::vector<std::string> prefix;
};

/// Thread-safe.
class RunnerPool {
public:
    /// Starts the first runner and asks for its GPU. Missing, with the remedy, without runner,
    /// driver or GPU.
    [[nodiscard]] static Result<std::unique_ptr<RunnerPool>> open(RunnerCommand command,
                                                                  std::stop_token stop);

    /// The first GPU.
    [[nodiscard]] const DeviceDescription& device() const { return device_; }

    /// Waits for a free GPU and asks it. A runner that dies without an answer is replaced and the
    /// question asked again, `mostAttempts` times in all; one whose context a kernel destroyed is
    /// replaced for the next question.
    [[nodiscard]] Result<Answer> ask(const Request& request, std::stop_token stop);

    static constexpr int mostAttempts = 5;

private:
    struct Seat {
        int device = 0;
        bool isTaken = false;
        std::unique_ptr<FramedChild> runner; ///< Null until it is needed.
    };

    explicit RunnerPool(RunnerCommand command) : command_(std::move(command)) {}

    [[nodiscard]] Result<std::unique_ptr<FramedChild>> start(int device) const;
    [[nodiscard]] Result<Seat*> take(const std::stop_token& stop);
    void giveBack(Seat& seat);
    [[nodiscard]] Result<Answer> askSeat(Seat& seat, const Request& request,
                                         const std::stop_token& stop) const;

    RunnerCommand command_;
    DeviceDescription device_;
    std::mutex mutex_;
    std::condition_variable_any freed_;
    std::vector<Seat> seats_;
};

} // namespace kernelskill::engine::gpu
