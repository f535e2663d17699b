/// Runs kernels on a GPU: compiled by NVIDIA's compiler, launched by a runner process on the input
/// that the emulator would use, timed and counted by the hardware.
#pragma once

#include "engine/execution/executor.h"
#include "engine/execution/gpu/runner_pool.h"
#include "engine/static_facts/static_facts.h"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct GpuOptions {
    std::string name = "gpu"; ///< What profiles call it: "gpu" or "slurm".
    gpu::RunnerCommand runner;
    StaticFactsOptions compile;
    std::filesystem::path cacheDirectory; ///< Of what was measured of GPUs; empty: the user's.
};

/// An image and how to launch it.
struct TimedLaunch {
    std::shared_ptr<const Image> image;
    LaunchSpec launch;
};

/// Thread-safe. Buffers of a launch have to have their sizes.
class GpuExecutor final : public Executor {
public:
    /// Starts a runner; on Slurm that waits in the queue, and `onWait` hears of it. Missing, with
    /// the remedy, without runner, driver, GPU or compiler.
    [[nodiscard]] static Result<std::unique_ptr<GpuExecutor>>
    open(GpuOptions options, std::stop_token stop, const gpu::WaitSink& onWait = {});

    /// Waits until a runner is there, where the one of before was given back or lost.
    [[nodiscard]] Result<void> awaitRunner(std::stop_token stop, const gpu::WaitSink& onWait) {
        return pool_->awaitRunner(std::move(stop), onWait);
    }

    [[nodiscard]] const gpu::DeviceDescription& device() const { return pool_->device(); }
    [[nodiscard]] std::string architecture() const;

    [[nodiscard]] std::string_view name() const override { return options_.name; }
    [[nodiscard]] Result<std::shared_ptr<const Image>>
    build(KernelRef kernel, const LaunchSpec& launch, std::stop_token stop) override;
    /// With `wantProfile` the hardware's counters and stalls, by Nsight Compute's names. Where they
    /// may not be read the profile holds the time alone, and a note says why.
    [[nodiscard]] Result<RunResult> run(const Image& image, const Job& job,
                                        std::stop_token stop) override;

    /// Microseconds of each launch, round by round, side by side on one GPU.
    [[nodiscard]] Result<gpu::TimingAnswer> time(std::span<const TimedLaunch> launches,
                                                 std::uint64_t seed, const gpu::TimingPlan& plan,
                                                 std::stop_token stop);
    /// What the GPU reaches at best; measured once, then kept on disk.
    [[nodiscard]] Result<gpu::CeilingsAnswer> ceilings(std::stop_token stop);

private:
    GpuExecutor(GpuOptions options, std::unique_ptr<gpu::RunnerPool> pool)
        : options_(std::move(options)), pool_(std::move(pool)) {}

    GpuOptions options_;
    std::unique_ptr<gpu::RunnerPool> pool_;
};

/// The metrics that a profile on a GPU asks for: those that decide between bottlenecks, few enough
/// for a handful of passes.
[[nodiscard]] const std::vector<std::string>& gpuProfileMetrics();

} // namespace kernelskill::engine
