#include "engine/execution/emulator/emulator_executor.h"

#include "engine/execution/emulator/compile/image_cache.h"
#include "engine/execution/emulator/emulation_image.h"
#include "engine/execution/emulator/kept_runs.h"
#include "engine/execution/emulator/profile_assembly.h"
#include "engine/execution/emulator/run_parts.h"
#include "engine/execution/emulator/worker_process.h"
#include "engine/process/framing.h"
#include "engine/storage/content_hash.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace kernelskill::engine {

namespace {

/// The memory for runs that may be asked for again.
constexpr std::uint64_t maxKeptBytes = 64 << 20;

class CompiledImage final : public Image {
public:
    explicit CompiledImage(EmulationImage built) : built_(std::move(built)) {}
    [[nodiscard]] const EmulationImage& built() const { return built_; }
    [[nodiscard]] emulator::PlaceTable& places() const { return places_; }
    /// Whether a run has shown that its blocks depend on each other.
    [[nodiscard]] std::atomic<bool>& needsOneWorker() const { return needsOneWorker_; }

private:
    mutable std::atomic<bool> needsOneWorker_ = false;
    EmulationImage built_;
    mutable emulator::PlaceTable places_{
        built_.sharedObject}; ///< Synchronised; grows as runs require places.
};

ContentHash hashOf(const emulator::WorkerJob& work) {
    emulator::WorkerJob named = work;
    // A hash of all its inputs.
    named.image = std::filesystem::path(work.image).filename().string();
    const std::vector<std::byte> message = emulator::encode(named);
    ContentHash hash;
    hash.add({reinterpret_cast<const char*>(message.data()), message.size()});
    return hash;
}

/// Reports of profiles on disk. A report depends only on the image, the job and the worker.
class KeptReports {
public:
    KeptReports(const std::filesystem::path& folder, std::uint64_t bytes,
                std::filesystem::path worker)
        : cache_(folder, bytes), worker_(std::move(worker)) {}

    [[nodiscard]] std::string keyOf(const emulator::WorkerJob& work) const {
        std::error_code ignored;
        ContentHash hash = hashOf(work);
        hash.add(std::to_string(std::filesystem::file_size(worker_, ignored)));
        hash.add(std::to_string(
            std::filesystem::last_write_time(worker_, ignored).time_since_epoch().count()));
        return hash.hex();
    }
    [[nodiscard]] std::optional<emulator::WorkerReport> find(const std::string& key) const {
        const auto text = cache_.report(key);
        if (!text || text->size() < wire::frameHeaderBytes)
            return std::nullopt;
        auto report =
            emulator::decodeReport(std::as_bytes(std::span(*text)).subspan(wire::frameHeaderBytes));
        if (!report)
            return std::nullopt;
        return std::move(*report);
    }
    void store(const std::string& key, const emulator::WorkerReport& report) const {
        const std::vector<std::byte> frame = emulator::encode(report);
        cache_.storeReport(key, {reinterpret_cast<const char*>(frame.data()), frame.size()});
    }

private:
    ImageCache cache_;
    std::filesystem::path worker_;
};

/// Whether another run would give the same report: all requested blocks ran to their end.
bool isWhole(const emulator::WorkerReport& report, const Job& job) {
    const std::uint64_t all = job.launch.grid.count();
    return !report.failure && report.blocksRun == std::min(all, job.maxBlocks.value_or(all));
}

class EmulatorExecutor final : public Executor {
public:
    EmulatorExecutor(ImageOptions options, const std::filesystem::path& worker, unsigned maxWorkers,
                     bool keepsReports)
        : options_(std::move(options)), maxWorkers_(maxWorkers), workers_(worker) {
        if (keepsReports)
            reports_.emplace(options_.cacheDirectory, options_.cacheBytes, worker);
    }

    [[nodiscard]] std::string_view name() const override { return "emulator"; }

    [[nodiscard]] Result<std::shared_ptr<const Image>>
    build(KernelRef kernel, const LaunchSpec& launch, std::stop_token stop) override {
        auto built = buildEmulationImage(kernel, launch, options_, std::move(stop));
        if (!built)
            return std::unexpected(built.error());
        return std::make_shared<const CompiledImage>(std::move(*built));
    }

    [[nodiscard]] Result<RunResult> run(const Image& image, const Job& job,
                                        std::stop_token stop) override {
        const auto* kernel = dynamic_cast<const CompiledImage*>(&image);
        if (kernel == nullptr) {
            return std::unexpected(
                Error{ErrorKind::Internal, "the image was built by another executor", "", ""});
        }
        auto report = runBlocks(*kernel, job, stop);
        if (!report)
            return std::unexpected(report.error());
        return resultOf(*kernel, std::move(*report), job, stop);
    }

    [[nodiscard]] Result<TimedRun> runOrRecall(const Image& image, const Job& job,
                                               std::stop_token stop) override {
        const auto* kernel = dynamic_cast<const CompiledImage*>(&image);
        if (kernel == nullptr)
            return Executor::runOrRecall(image, job, std::move(stop)); // It says so.
        const emulator::WorkerJob work{kernel->built().sharedObject.string(), job, {}};
        const bool isEstimate = !job.wantHazards && !job.wantOutputs;
        const auto kept = runs_.of(
            hashOf(work).hex(), [&] { return runBlocks(*kernel, job, stop); }, stop,
            isEstimate ? emulator::CutOffRuns::Kept : emulator::CutOffRuns::Repeated);
        if (!kept)
            return std::unexpected(kept.error());
        auto result = resultOf(*kernel, (*kept)->report, job, stop);
        if (!result)
            return std::unexpected(std::move(result.error()));
        return TimedRun{std::move(*result), (*kept)->took};
    }

private:
    static Result<RunResult> resultOf(const CompiledImage& kernel, emulator::WorkerReport report,
                                      const Job& job, const std::stop_token& stop) {
        auto result = emulator::assembleResult(std::move(report), job, kernel.places(), stop);
        if (result) {
            result->profile.notes.insert(result->profile.notes.begin(),
                                         kernel.built().notes.begin(), kernel.built().notes.end());
        }
        return result;
    }

    Result<emulator::WorkerReport> runBlocks(const CompiledImage& kernel, const Job& job,
                                             const std::stop_token& stop) {
        const emulator::WorkerJob work{kernel.built().sharedObject.string(), job, {}};
        // Outputs are requested once; profiles are requested repeatedly.
        if (!reports_ || !job.wantProfile || job.wantOutputs)
            return runWorkers(kernel, work, stop);
        const std::string key = reports_->keyOf(work);
        if (auto known = reports_->find(key))
            return std::move(*known);
        auto report = runWorkers(kernel, work, stop);
        if (report && isWhole(*report, job))
            reports_->store(key, *report);
        return report;
    }

    Result<emulator::WorkerReport> runWorkers(const CompiledImage& kernel,
                                              const emulator::WorkerJob& work,
                                              const std::stop_token& stop) {
        const std::uint64_t parts =
            kernel.needsOneWorker() ? 1 : emulator::partsFor(work.job, maxWorkers_);
        if (parts > 1) {
            if (auto report = emulator::runInParts(workers_, work, parts, stop))
                return std::move(*report);
            kernel.needsOneWorker() = true;
        }
        return workers_.run(work, stop);
    }

    ImageOptions options_;
    unsigned maxWorkers_;
    emulator::WorkerPool workers_;
    std::optional<KeptReports> reports_;
    emulator::KeptRuns runs_{maxKeptBytes};
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
    return std::make_unique<EmulatorExecutor>(std::move(images), options.workerExecutable, workers,
                                              options.keepsReports);
}

} // namespace kernelskill::engine
