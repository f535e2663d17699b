#include "engine/execution/emulator/emulator_executor.h"

#include "engine/execution/emulator/emulation_image.h"
#include "engine/execution/emulator/profile_assembly.h"
#include "engine/execution/emulator/run_parts.h"
#include "engine/execution/emulator/worker_process.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace kernelskill::engine {

namespace {

class CompiledKernel final : public Image {
public:
    explicit CompiledKernel(EmulationImage built) : built_(std::move(built)) {}
    [[nodiscard]] const EmulationImage& built() const { return built_; }
    [[nodiscard]] emulator::PlaceTable& places() const { return places_; }
    /// Whether its blocks have been seen to need each other.
    [[nodiscard]] std::atomic<bool>& needsOneWorker() const { return needsOneWorker_; }

private:
    mutable std::atomic<bool> needsOneWorker_ = false;
    EmulationImage built_;
    mutable emulator::PlaceTable places_{
        built_.sharedObject}; ///< Synchronised; grows with what runs ask for.
};

class EmulatorExecutor final : public Executor {
public:
    EmulatorExecutor(ImageOptions options, std::filesystem::path worker, unsigned mostWorkers)
        : options_(std::move(options)), mostWorkers_(mostWorkers), workers_(std::move(worker)) {}

    [[nodiscard]] std::string_view name() const override { return "emulator"; }

    [[nodiscard]] Result<std::shared_ptr<const Image>> build(const ProgramSource& program,
                                                             const analysis::KernelModel& kernel,
                                                             const LaunchSpec& launch,
                                                             std::stop_token stop) override {
        auto built = buildEmulationImage(program, kernel, launch, options_, std::move(stop));
        if (!built)
            return std::unexpected(built.error());
        return std::make_shared<const CompiledKernel>(std::move(*built));
    }

    [[nodiscard]] Result<RunResult> run(const Image& image, const Job& job,
                                        std::stop_token stop) override {
        const auto* kernel = dynamic_cast<const CompiledKernel*>(&image);
        if (kernel == nullptr) {
            return std::unexpected(
                Error{ErrorKind::Internal, "the image was built by another executor", "", ""});
        }
        auto report = runBlocks(*kernel, job, stop);
        if (!report)
            return std::unexpected(report.error());
        auto result = emulator::assembleResult(std::move(*report), job, kernel->places(), stop);
        if (result) {
            result->profile.notes.insert(result->profile.notes.begin(),
                                         kernel->built().notes.begin(),
                                         kernel->built().notes.end());
        }
        return result;
    }

private:
    Result<emulator::WorkerReport> runBlocks(const CompiledKernel& kernel, const Job& job,
                                             const std::stop_token& stop) {
        const emulator::WorkerJob work{kernel.built().sharedObject.string(), job, {}};
        const std::uint64_t parts =
            kernel.needsOneWorker() ? 1 : emulator::partsFor(job, mostWorkers_);
        if (parts > 1) {
            if (auto report = emulator::runInParts(workers_, work, parts, stop))
                return std::move(*report);
            kernel.needsOneWorker() = true;
        }
        return workers_.run(work, stop);
    }

    ImageOptions options_;
    unsigned mostWorkers_;
    emulator::WorkerPool workers_;
};

} // namespace

Result<std::unique_ptr<Executor>> makeEmulatorExecutor(EmulatorOptions options,
                                                       const analysis::Toolchain& toolchain) {
    auto compiler = findHostCompiler(options.hostCompiler);
    if (!compiler)
        return std::unexpected(compiler.error());
    ImageOptions images;
    images.hostCompiler = std::move(*compiler);
    images.preludeInclude = toolchain.preludeInclude;
    images.cacheDirectory = std::move(options.cacheDirectory);
    const unsigned workers =
        options.workers != 0 ? options.workers : std::max(1u, std::thread::hardware_concurrency());
    return std::make_unique<EmulatorExecutor>(std::move(images),
                                              std::move(options.workerExecutable), workers);
}

} // namespace kernelskill::engine
