/// Runs kernels on a GPU. NVIDIA's compiler compiles them, and a runner process launches them on
/// the input that the emulator would use. The hardware times and counts.
#pragma once

#include "engine/execution/executor.h"
#include "engine/execution/gpu/compute_sanitizer.h"
#include "engine/execution/gpu/runner_pool.h"
#include "engine/static_facts/static_facts.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct GpuOptions {
    std::string name = "gpu"; ///< The name in profiles: "gpu" or "slurm".
    gpu::RunnerCommand runner;
    StaticFactsOptions compile;
    /// The path of NVIDIA's compute-sanitizer, which reviews ask about both kernels; empty: they do
    /// not ask.
    std::filesystem::path computeSanitizer;
    /// For measured ceilings; if empty, the user's cache folder.
    std::filesystem::path cacheDirectory;
};

/// An image with its launch.
struct TimedLaunch {
    std::shared_ptr<const Image> image;
    LaunchSpec launch;
};

/// Several runs of a launch on equal input.
struct RepeatedRun {
    RunResult first;
    /// The outputs of each later run whose bits are not those of the first.
    std::vector<std::vector<BufferContents>> otherOutputs;
};

/// Thread-safe. All buffers of a launch must have their sizes.
class GpuExecutor final : public Executor {
public:
    /// Starts a runner. On Slurm that waits in the queue, which `onWait` reports. Missing, with a
    /// remedy, if there is no runner, driver, GPU or compiler.
    [[nodiscard]] static Result<std::unique_ptr<GpuExecutor>>
    open(GpuOptions options, std::stop_token stop, const gpu::WaitSink& onWait = {});

    /// Waits for a runner if the previous one was given back or lost.
    [[nodiscard]] Result<void> awaitRunner(std::stop_token stop, const gpu::WaitSink& onWait) {
        return pool_->awaitRunner(std::move(stop), onWait);
    }

    [[nodiscard]] const gpu::DeviceDescription& device() const { return pool_->device(); }
    [[nodiscard]] std::string architecture() const;

    [[nodiscard]] std::string_view name() const override { return options_.name; }
    [[nodiscard]] Result<std::shared_ptr<const Image>>
    build(KernelRef kernel, const LaunchSpec& launch, std::stop_token stop) override;
    /// With `wantProfile`, reads the hardware's counters and stalls, named as in Nsight Compute. If
    /// counters may not be read, the profile has only the time, and a note with the reason.
    [[nodiscard]] Result<RunResult> run(const Image& image, const Job& job,
                                        std::stop_token stop) override;
    /// Runs the job `launches` times. The runner compares the outputs, because those of a large
    /// launch take longer to send than to compute.
    [[nodiscard]] Result<RepeatedRun> runRepeatedly(const Image& image, const Job& job,
                                                    std::uint32_t launches,
                                                    const std::stop_token& stop);

    /// The microseconds of each launch in each round, all on one GPU.
    [[nodiscard]] Result<gpu::TimingAnswer> time(std::span<const TimedLaunch> launches,
                                                 std::uint64_t seed, const gpu::TimingPlan& plan,
                                                 std::stop_token stop);
    /// Whether reviews have to ask compute-sanitizer.
    [[nodiscard]] bool asksSanitizer() const { return !options_.computeSanitizer.empty(); }
    /// Returns what compute-sanitizer finds in one launch, see runSanitizer().
    [[nodiscard]] Result<std::vector<gpu::SanitizerFinding>>
    sanitize(const TimedLaunch& launch, std::uint64_t seed, const std::stop_token& stop) const;
    /// The maximum throughput of the GPU; measured once, then cached on disk.
    [[nodiscard]] Result<gpu::CeilingsAnswer> ceilings(std::stop_token stop);

    using Alone = std::unique_lock<std::shared_timed_mutex>;
    /// Waits until no run of this executor is under way, and lets none begin while the result is
    /// held: another process is timed on the GPU. Cancelled on `stop`.
    [[nodiscard]] Result<Alone> holdRuns(const std::stop_token& stop) const;

private:
    GpuExecutor(GpuOptions options, std::unique_ptr<gpu::RunnerPool> pool)
        : options_(std::move(options)), pool_(std::move(pool)) {}

    /// Asks a runner, unless runs are held.
    [[nodiscard]] Result<gpu::Answer> ask(const gpu::Request& request, const std::stop_token& stop);

    GpuOptions options_;
    std::unique_ptr<gpu::RunnerPool> pool_;
    mutable std::shared_timed_mutex runs_; ///< Shared by each run.
};

/// The metrics of a profile on a GPU: those that distinguish bottlenecks, few enough for a handful
/// of passes.
[[nodiscard]] const std::vector<std::string>& gpuProfileMetrics();

} // namespace kernelskill::engine
