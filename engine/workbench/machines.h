/// The machines that kernels run on: the CPU emulator, and a GPU that is opened on first use.
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
    /// Both arguments outlive the object.
    Machines(const WorkbenchOptions& options, const analysis::Toolchain& toolchain);

    /// The emulator. Missing if there is no host compiler.
    [[nodiscard]] Result<Executor*> emulator() const;
    /// The GPU of this machine or of a cluster node. The first call waits some seconds for a
    /// runner; on Slurm it waits as long as the queue, which `progress` reports. Missing if there
    /// is no GPU or no runner.
    [[nodiscard]] Result<GpuExecutor*> gpu(const std::stop_token& stop = {},
                                           const ProgressSink& progress = {});
    /// Null before gpu() has succeeded. Cheap.
    [[nodiscard]] const GpuExecutor* openedGpu() const { return gpu_.opened(); }
    /// Whether to offer a profile on the GPU: there seems to be a GPU, and opening it has not
    /// failed. Cheap, because it opens nothing.
    [[nodiscard]] bool offersGpu() const { return gpu_.isOffered(); }
    /// gpu() for a Reviewer. A cluster without a free node is a failure here, not a missing GPU.
    [[nodiscard]] GpuSource gpuSource();
    /// "gpu" or "slurm".
    [[nodiscard]] std::string gpuExecutorName() const { return options_.slurm ? "slurm" : "gpu"; }

    /// The GPU that estimates are made for: the configured one, an H200 by default.
    [[nodiscard]] const Gpu& estimatedGpu() const { return estimatedGpu_; }
    /// The table's entry for the GPU that CUDA calls `name`; estimatedGpu() if the table has none.
    [[nodiscard]] const Gpu& gpuNamedByCuda(std::string_view name) const;
    /// The architecture of the opened GPU, else that of estimatedGpu().
    [[nodiscard]] std::string architecture() const;

    /// How kernels are compiled for GPUs.
    [[nodiscard]] StaticFactsOptions factsOptions() const;
    [[nodiscard]] const analysis::Toolchain& toolchain() const { return toolchain_; }

private:
    [[nodiscard]] GpuOptions gpuOptions() const;

    const WorkbenchOptions& options_;
    const analysis::Toolchain& toolchain_;
    const Gpu& estimatedGpu_; ///< Of the built-in table.
    Result<std::unique_ptr<Executor>> emulator_;
    GpuAccess gpu_;
};

} // namespace kernelskill::engine
