/// A worker as its user sees it: a child process that takes one job at a time.
#pragma once

#include "engine/execution/emulator/wire.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <sys/types.h>
#include <vector>

namespace kernelskill::engine::emulator {

class WorkerProcess {
public:
    /// Starts `<executable> emulator-worker` with an empty environment and nothing of ours open.
    [[nodiscard]] static Result<std::unique_ptr<WorkerProcess>>
    start(const std::filesystem::path& executable);

    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;
    /// Kills the process and waits for it.
    ~WorkerProcess();

    /// Sends the job and waits. After an error the process is of no more use. Cancelled when `stop`
    /// asks; Failed when `time` passes or the process ends without an answer.
    [[nodiscard]] Result<WorkerReport> run(const WorkerJob& job, std::chrono::milliseconds time,
                                           std::stop_token stop);

    /// Whether the process is still there, as far as can be told without asking it.
    [[nodiscard]] bool isAlive() const;

private:
    WorkerProcess(pid_t process, int socket) : process_(process), socket_(socket) {}

    pid_t process_;
    int socket_;
};

/// Keeps workers that are idle, so that a run need not wait for a process to start. Thread-safe.
class WorkerPool {
public:
    explicit WorkerPool(std::filesystem::path executable) : executable_(std::move(executable)) {}

    [[nodiscard]] Result<WorkerReport> run(const WorkerJob& job, std::stop_token stop);

private:
    [[nodiscard]] Result<std::unique_ptr<WorkerProcess>> take();

    std::filesystem::path executable_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<WorkerProcess>> idle_;
};

} // namespace kernelskill::engine::emulator
