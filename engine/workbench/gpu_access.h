/// The GPU that kernels are measured on, opened when it is first asked for.
#pragma once

#include "engine/execution/gpu/gpu_executor.h"
#include "engine/review/reviewer.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>

namespace kernelskill::engine {

/// For all threads. What a cluster could not give it may give the next time; a machine without a
/// GPU stays so.
class GpuAccess {
public:
    /// An empty runner: nothing is measured, GPU or not.
    explicit GpuAccess(GpuOptions options) : options_(std::move(options)) {}

    /// Waits while another thread opens it, and for the queue of a cluster. Missing: there is
    /// none, or nothing to run kernels on it with; Cancelled.
    [[nodiscard]] Result<GpuExecutor*> open(const std::stop_token& stop,
                                            const ProgressSink& progress);
    /// Null before open() has succeeded.
    [[nodiscard]] const GpuExecutor* opened() const;
    /// Whether open() may well succeed, from what can be told without opening it.
    [[nodiscard]] bool isOffered() const;

private:
    enum class State : std::uint8_t { Unopened, Open, Failed };

    [[nodiscard]] Result<std::unique_ptr<GpuExecutor>> start(const std::stop_token& stop,
                                                             const gpu::WaitSink& onWait) const;

    GpuOptions options_;
    std::timed_mutex opening_;
    Result<std::unique_ptr<GpuExecutor>> executor_;
    std::atomic<State> state_ = State::Unopened;
};

} // namespace kernelskill::engine
