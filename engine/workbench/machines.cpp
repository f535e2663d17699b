#include "engine/workbench/machines.h"

#include "engine/execution/emulator/emulator_executor.h"
#include "engine/execution/gpu/toolkit_files.h"

#include <filesystem>

namespace kernelskill::engine {
namespace {

/// The GPU of the table that is configured, an H200 by default.
const Gpu& gpuToEstimateFor(const std::string& configured) {
    static const Gpu none; // If the built-in table cannot be read, the build is at fault.
    const auto& table = builtinGpus();
    if (!table)
        return none;
    const Gpu* named = gpuNamed(*table, configured);
    const Gpu* usual = gpuNamed(*table, "H200");
    return named != nullptr ? *named : usual != nullptr ? *usual : none;
}

} // namespace

Machines::Machines(const WorkbenchOptions& options, const analysis::Toolchain& toolchain)
    : options_(options), toolchain_(toolchain), estimatedGpu_(gpuToEstimateFor(options.gpu)),
      emulator_(makeEmulatorExecutor(
          {options.executable, options.hostCompiler, options.cacheDirectory, true}, toolchain)),
      gpu_(gpuOptions()) {}

Result<Executor*> Machines::emulator() const {
    if (!emulator_)
        return std::unexpected(emulator_.error());
    return emulator_->get();
}

Result<GpuExecutor*> Machines::gpu(const std::stop_token& stop, const ProgressSink& progress) {
    return gpu_.open(stop, progress);
}

GpuSource Machines::gpuSource() {
    return [this](const std::stop_token& stop, const ProgressSink& progress) {
        auto found = gpu_.open(stop, progress);
        if (!found && options_.slurm && found.error().kind == ErrorKind::Missing)
            found.error().kind = ErrorKind::Failed;
        return found;
    };
}

const Gpu& Machines::gpuNamedByCuda(std::string_view name) const {
    const auto& table = builtinGpus();
    const Gpu* named = table ? gpuNamed(*table, name) : nullptr;
    return named != nullptr ? *named : estimatedGpu();
}

std::string Machines::architecture() const {
    const GpuExecutor* opened = openedGpu();
    return opened != nullptr ? opened->architecture()
                             : analysis::architectureName(estimatedGpu().capability);
}

GpuOptions Machines::gpuOptions() const {
    GpuOptions wanted;
    wanted.name = gpuExecutorName();
    wanted.runner = {options_.runner, gpu::cuptiLibraryOf(toolchain_.toolkit), {}, options_.slurm};
    if (options_.asksSanitizer)
        wanted.computeSanitizer = gpu::computeSanitizerOf(toolchain_.toolkit);
    wanted.compile = factsOptions();
    wanted.cacheDirectory = options_.cacheDirectory;
    return wanted;
}

StaticFactsOptions Machines::factsOptions() const {
    StaticFactsOptions wanted;
    wanted.workerExecutable = options_.executable;
    wanted.toolkit = toolchain_.toolkit;
    wanted.preludeInclude = toolchain_.preludeInclude;
    wanted.cacheDirectory = options_.cacheDirectory.empty() ? std::filesystem::path{}
                                                            : options_.cacheDirectory / "facts";
    return wanted;
}

} // namespace kernelskill::engine
