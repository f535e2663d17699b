#include "engine/execution/emulator/emulator_executor.h"

#include "engine/execution/emulator/emulation_image.h"
#include "engine/execution/emulator/profile_assembly.h"
#include "engine/execution/emulator/worker_process.h"

#include <utility>

namespace kernelskill::engine {

namespace {

class CompiledKernel final : public Image {
public:
    explicit CompiledKernel(EmulationImage built) : built_(std::move(built)) {}
    [[nodiscard]] const EmulationImage& built() const { return built_; }
    [[nodiscard]] emulator::PlaceTable& places() const { return places_; }

private:
    EmulationImage built_;
    mutable emulator::PlaceTable places_{
        built_.sharedObject}; ///< Synchronised; grows with what runs ask for.
};

class EmulatorExecutor final : public Executor {
public:
    EmulatorExecutor(ImageOptions options, std::filesystem::path worker)
        : options_(std::move(options)), workers_(std::move(worker)) {}

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
        auto report = workers_.run({kernel->built().sharedObject.string(), job}, stop);
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
    ImageOptions options_;
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
    return std::make_unique<EmulatorExecutor>(std::move(images),
                                              std::move(options.workerExecutable));
}

} // namespace kernelskill::engine
