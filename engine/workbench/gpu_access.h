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

/// Shared by all threads. After a failure to get a node of a cluster, the next call tries again; a
/// machine without a GPU is not asked again.
class GpuAccess {
public:
    /// If the runner's path is empty, nothing is measured, even if there is a GPU.
    explicit GpuAccess(GpuOptions options) : options_(std::move(options)) {}

    /// Opens the GPU, or waits while another thread opens it or while a cluster's queue is busy.
    /// Errors: Missing if there is no GPU or no runner; Cancelled.
    [[nodiscard]] Result<GpuExecutor*> open(const std::stop_token& stop,
                                            const ProgressSink& progress);
    /// Null before open() has succeeded.
    [[nodiscard]] const GpuExecutor* opened() const;
    /// Whether open() is likely to succeed. Opens nothing.
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
