#include "engine/execution/gpu/gpu_executor.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "analysis/source/json_reading.h"
#include "engine/execution/metric_names.h"
#include "engine/process/patient_lock.h"
#include "engine/static_facts/device_code.h"
#include "engine/storage/cache_files.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

/// A profile shows a median and compares nothing, so it needs fewer rounds.
constexpr gpu::TimingPlan timingOfProfiles{.minRounds = 10,
                                           .maxRounds = 100,
                                           .budget = std::chrono::milliseconds(100),
                                           .longest = std::chrono::milliseconds(1'500)};

class GpuImage final : public Image {
public:
    explicit GpuImage(DeviceCode code) : code_(std::move(code)) {}
    [[nodiscard]] const DeviceCode& code() const { return code_; }

private:
    DeviceCode code_;
};

Result<gpu::Subject> subjectOf(const Image& image, const LaunchSpec& launch) {
    const auto* built = dynamic_cast<const GpuImage*>(&image);
    if (built == nullptr)
        return std::unexpected(
            Error{ErrorKind::Internal, "the image was built by another executor", {}, {}});
    for (const SymbolSpec& symbol : launch.symbols) {
        if (symbol.isFilled && symbol.fill != Fill::Zero)
            return std::unexpected(
                Error{ErrorKind::Unsupported,
                      "the host sets '" + symbol.name + "', which a run on the GPU cannot do yet",
                      {},
                      "profile on the emulator"});
    }
    return gpu::Subject{built->code().cubin, built->code().facts.symbol, launch};
}

template <typename Wanted>
Result<Wanted> expectAnswer(Result<gpu::Answer> answer) {
    if (!answer)
        return std::unexpected(answer.error());
    if (auto* wanted = std::get_if<Wanted>(&*answer))
        return std::move(*wanted);
    return std::unexpected(
        Error{ErrorKind::Internal, "the runner answered another question", {}, {}});
}

constexpr std::string_view sampledReason = "smsp__pcsamp_warps_issue_stalled_";

/// The samples of each line, and the share of resident warps' time that each reason took. A sample
/// is one warp at one moment.
std::vector<LineMetrics> lineMetrics(const std::vector<gpu::LineStalls>& stalls) {
    // CUPTI counts a warp that did not issue a second time under another name.
    const auto isReason = [](std::string_view name) {
        return name.starts_with(sampledReason) && !name.ends_with("_not_issued");
    };
    double total = 0;
    for (const auto& line : stalls)
        for (const auto& [reason, samples] : line.samples)
            total += isReason(reason) ? static_cast<double>(samples) : 0;
    std::vector<LineMetrics> lines;
    for (const auto& line : stalls) {
        LineMetrics metrics{line.file, line.line, {}};
        double here = 0;
        for (const auto& [reason, samples] : line.samples) {
            if (!isReason(reason))
                continue;
            const auto count = static_cast<double>(samples);
            metrics.metrics[reason] = count;
            metrics.metrics["smsp__warp_issue_stalled_" + reason.substr(sampledReason.size()) +
                            "_per_warp_active.pct"] = 100 * count / total;
            here += count;
        }
        if (here > 0) {
            metrics.metrics[metric::stallSamples] = here;
            metrics.metrics[metric::stallPercent] = 100 * here / total;
            lines.push_back(std::move(metrics));
        }
    }
    return lines;
}

std::string cacheName(const gpu::DeviceDescription& device) {
    return device.uuid + "-" + std::to_string(device.driverVersion) + ".json";
}

} // namespace

const std::vector<std::string>& gpuProfileMetrics() {
    static const std::vector<std::string> metrics = {
        "gpu__time_duration.sum",
        "dram__bytes_read.sum",
        "dram__bytes_write.sum",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed",
        "lts__throughput.avg.pct_of_peak_sustained_elapsed",
        "l1tex__throughput.avg.pct_of_peak_sustained_active",
        "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "sm__warps_active.avg.pct_of_peak_sustained_active",
        "smsp__issue_active.avg.pct_of_peak_sustained_active",
        "smsp__thread_inst_executed_per_inst_executed.ratio",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
        "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
        "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct",
        "smsp__warp_issue_stalled_short_scoreboard_per_warp_active.pct",
        "smsp__warp_issue_stalled_barrier_per_warp_active.pct",
        "smsp__average_warp_latency_per_inst_issued.ratio",
    };
    return metrics;
}

Result<std::unique_ptr<GpuExecutor>> GpuExecutor::open(GpuOptions options, std::stop_token stop,
                                                       const gpu::WaitSink& onWait) {
    if (!options.compile.toolkit)
        return std::unexpected(Error{ErrorKind::Missing,
                                     "no CUDA toolkit was found; its compiler is needed for a GPU",
                                     {},
                                     "install the CUDA toolkit, or set the CUDA path"});
    auto pool = gpu::RunnerPool::open(options.runner, std::move(stop), onWait);
    if (!pool)
        return std::unexpected(pool.error());
    return std::unique_ptr<GpuExecutor>(new GpuExecutor(std::move(options), std::move(*pool)));
}

std::string GpuExecutor::architecture() const {
    return "sm_" + std::to_string(device().capabilityMajor) +
           std::to_string(device().capabilityMinor);
}

Result<std::shared_ptr<const Image>> GpuExecutor::build(KernelRef kernel, const LaunchSpec& launch,
                                                        std::stop_token stop) {
    auto code = deviceCode(kernel, launch.templateArguments, architecture(), options_.compile,
                           std::move(stop));
    if (!code)
        return std::unexpected(code.error());
    return std::make_shared<const GpuImage>(std::move(*code));
}

Result<GpuExecutor::Alone> GpuExecutor::holdRuns(const std::stop_token& stop) const {
    return lockUnlessStopped(runs_, stop);
}

Result<gpu::Answer> GpuExecutor::ask(const gpu::Request& request, const std::stop_token& stop) {
    const auto run = shareUnlessStopped(runs_, stop);
    if (!run)
        return std::unexpected(run.error());
    return pool_->ask(request, stop);
}

Result<RunResult> GpuExecutor::run(const Image& image, const Job& job, std::stop_token stop) {
    auto done = runRepeatedly(image, job, 1, stop);
    if (!done)
        return std::unexpected(std::move(done.error()));
    return std::move(done->first);
}

Result<RepeatedRun> GpuExecutor::runRepeatedly(const Image& image, const Job& job,
                                               std::uint32_t launches,
                                               const std::stop_token& stop) {
    auto subject = subjectOf(image, job.launch);
    if (!subject)
        return std::unexpected(subject.error());
    gpu::RunRequest request;
    request.subject = std::move(*subject);
    request.seed = job.seed;
    request.wantOutputs = job.wantOutputs;
    request.launches = launches;
    request.time = job.limits.time * launches;
    const auto& problem = device().profilerProblem;
    if (job.wantProfile) {
        request.timing = timingOfProfiles;
        request.time += gpu::TimingRequest{}.time;
    }
    if (job.wantProfile && !problem) {
        request.metrics = gpuProfileMetrics();
        request.wantStalls = true;
    }
    auto answer = expectAnswer<gpu::RunAnswer>(ask(request, stop));
    if (!answer)
        return std::unexpected(answer.error());
    RepeatedRun repeated{{}, std::move(answer->otherOutputs)};
    RunResult& result = repeated.first;
    result.profile.kernel = job.launch.kernel;
    result.profile.executor = options_.name;
    result.profile.launch = job.launch;
    result.profile.blocksRun = job.launch.grid.count();
    result.profile.metrics = std::move(answer->metrics);
    result.profile.lines = lineMetrics(answer->stalls);
    result.profile.notes = std::move(answer->notes);
    result.outputs = std::move(answer->outputs);
    result.printed = std::move(answer->printed);
    if (!job.wantProfile)
        return repeated;
    result.profile.notes.push_back("measured on " + device().name + " (" + architecture() + ")");
    if (problem)
        result.profile.notes.push_back("no hardware counters: " + problem->describe());
    if (!answer->timing)
        return std::unexpected(Error{ErrorKind::Internal, "the runner gave no times", {}, {}});
    auto sorted = answer->timing->microseconds.at(0);
    std::ranges::sort(sorted);
    result.profile.metrics[metric::medianTime] = 1e3 * sorted[sorted.size() / 2];
    return repeated;
}

Result<gpu::TimingAnswer> GpuExecutor::time(std::span<const TimedLaunch> launches,
                                            std::uint64_t seed, const gpu::TimingPlan& plan,
                                            std::stop_token stop) {
    gpu::TimingRequest request;
    for (const TimedLaunch& launch : launches) {
        auto subject = subjectOf(*launch.image, launch.launch);
        if (!subject)
            return std::unexpected(subject.error());
        request.subjects.push_back(std::move(*subject));
    }
    request.seed = seed;
    request.plan = plan;
    return expectAnswer<gpu::TimingAnswer>(ask(request, stop));
}

Result<std::vector<gpu::SanitizerFinding>>
GpuExecutor::sanitize(const TimedLaunch& launch, std::uint64_t seed,
                      const std::stop_token& stop) const {
    const auto subject = subjectOf(*launch.image, launch.launch);
    if (!subject)
        return std::unexpected(subject.error());
    const auto run = shareUnlessStopped(runs_, stop);
    if (!run)
        return std::unexpected(run.error());
    return gpu::runSanitizer(options_.computeSanitizer, options_.runner, *subject, seed, stop);
}

Result<gpu::CeilingsAnswer> GpuExecutor::ceilings(std::stop_token stop) {
    using nlohmann::json;
    const auto folder = options_.cacheDirectory.empty() ? userCacheFolder("ceilings")
                                                        : options_.cacheDirectory / "ceilings";
    const auto path = folder / cacheName(device());
    if (const auto text = analysis::readFile(path)) {
        const auto known = analysis::parseJson(*text);
        if (known.is_array() && known.size() == 5 &&
            std::ranges::all_of(known, [](const json& value) { return value.is_number(); }))
            return gpu::CeilingsAnswer{known[0], known[1], known[2], known[3], known[4]};
    }
    auto measured = expectAnswer<gpu::CeilingsAnswer>(ask(gpu::CeilingsRequest{}, stop));
    if (measured) {
        std::error_code ignored;
        fs::create_directories(folder, ignored);
        writeWhole(path, json{measured->copyBytesPerSecond, measured->readBytesPerSecond,
                              measured->l2BytesPerSecond, measured->float32PerSecond,
                              measured->float64PerSecond}
                             .dump());
    }
    return measured;
}

} // namespace kernelskill::engine
