/// A worker of the emulator: a child process that takes one job at a time.
#pragma once

#include "engine/execution/emulator/wire/wire.h"
#include "engine/process/framed_child.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

namespace kernelskill::engine::emulator {

class WorkerProcess {
public:
    /// Starts `<executable> emulator-worker` with an empty environment and without our open files.
    [[nodiscard]] static Result<std::unique_ptr<WorkerProcess>>
    start(const std::filesystem::path& executable);

    /// Sends the job and waits. After an error the process is useless. Errors: Cancelled on `stop`;
    /// Failed if `time` passes, or if the process ends without an answer.
    [[nodiscard]] Result<WorkerReport> run(const WorkerJob& job, std::chrono::milliseconds time,
                                           std::stop_token stop);

    /// Whether the process still runs, as far as known without asking it.
    [[nodiscard]] bool isAlive() const { return child_->isAlive(); }

private:
    explicit WorkerProcess(std::unique_ptr<FramedChild> child) : child_(std::move(child)) {}

    std::unique_ptr<FramedChild> child_;
};

/// Keeps idle workers, so that a run need not wait for a process to start. Thread-safe.
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
