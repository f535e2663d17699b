/// What kernels run on: the CPU emulator, and a GPU that is opened when it is first needed.
#pragma once

#include "analysis/command/toolchain.h"
#include "engine/diagnosis/gpus.h"
#include "engine/execution/executor.h"
#include "engine/review/reviewer.h"
#include "engine/workbench/gpu_access.h"
#include "engine/workbench/workbench_options.h"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// Thread-safe.
class Machines {
public:
    /// Both outlive it.
    Machines(const WorkbenchOptions& options, const analysis::Toolchain& toolchain);

    /// The emulator. Missing: there is no host compiler.
    [[nodiscard]] Result<Executor*> emulator() const;
    /// The GPU of this machine or of a cluster node. Waits for a runner: some seconds the first
    /// time; on Slurm as long as the queue is, which `progress` reports. Missing: there is no GPU,
    /// or no runner.
    [[nodiscard]] Result<GpuExecutor*> gpu(const std::stop_token& stop = {},
                                           const ProgressSink& progress = {});
    /// Null before gpu() has succeeded. Cheap.
    [[nodiscard]] const GpuExecutor* openedGpu() const { return gpu_.opened(); }
    /// Whether a profile on the GPU is worth offering: a GPU seems to be there, and opening it has
    /// not failed. Cheap: opens nothing.
    [[nodiscard]] bool offersGpu() const { return gpu_.isOffered(); }
    /// gpu(), for a Reviewer, to which a cluster that has no free node is a failure and not a
    /// missing GPU.
    [[nodiscard]] GpuSource gpuSource();
    /// "gpu" or "slurm".
    [[nodiscard]] std::string gpuExecutorName() const { return options_.slurm ? "slurm" : "gpu"; }

    /// The GPU that estimates are made for: the configured one, an H200 by default.
    [[nodiscard]] const Gpu& estimatedGpu() const;
    /// Table entry of the GPU that CUDA calls `name`; estimatedGpu() if the table has none.
    [[nodiscard]] const Gpu& gpuNamedByCuda(std::string_view name) const;
    /// Architecture that measurements are made on if the GPU is open, else that of estimatedGpu().
    [[nodiscard]] std::string architecture() const;

    /// How kernels are compiled for GPUs.
    [[nodiscard]] StaticFactsOptions factsOptions() const;
    [[nodiscard]] const analysis::Toolchain& toolchain() const { return toolchain_; }

private:
    [[nodiscard]] GpuOptions gpuOptions() const;

    const WorkbenchOptions& options_;
    const analysis::Toolchain& toolchain_;
    Result<std::unique_ptr<Executor>> emulator_;
    GpuAccess gpu_;
};

} // namespace kernelskill::engine
