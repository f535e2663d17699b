#include "engine/execution/gpu/runner/job_runner.h"

#include "engine/execution/gpu/runner/ceilings.h"
#include "engine/execution/gpu/runner/stall_samples.h"
#include "engine/execution/gpu/runner/synchronise.h"
#include "engine/execution/gpu/runner/timing_run.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine::gpu {
namespace {

template <typename Value>
Answer answerOf(Result<Value> result, bool isFatal) {
    if (!result)
        return FailureAnswer{std::move(result.error()), isFatal};
    return std::move(*result);
}

} // namespace

Result<std::unique_ptr<JobRunner>> JobRunner::open(int ordinal, std::string cuptiLibrary) {
    const auto driver = CudaDriver::load();
    if (!driver)
        return std::unexpected(driver.error());
    auto device = Device::open(*driver, ordinal);
    if (!device)
        return std::unexpected(device.error());
    return std::unique_ptr<JobRunner>(new JobRunner(std::move(*device), std::move(cuptiLibrary)));
}

Result<const Cupti*> JobRunner::cupti() {
    if (!cupti_)
        cupti_ = Cupti::load(cuptiLibrary_);
    if (!*cupti_)
        return std::unexpected(cupti_->error());
    return &**cupti_;
}

Result<const RangeProfiler*> JobRunner::profiler(const std::vector<std::string>& metrics) {
    if (profiler_ && profiledMetrics_ == metrics)
        return profiler_.get();
    const auto library = cupti();
    if (!library)
        return std::unexpected(library.error());
    auto made = RangeProfiler::make(**library, *device_, metrics);
    if (!made)
        return std::unexpected(made.error());
    profiler_ = std::move(*made);
    profiledMetrics_ = metrics;
    return profiler_.get();
}

Answer JobRunner::answer(const Request& request) {
    bool isFatal = false;
    if (const auto* run = std::get_if<RunRequest>(&request)) {
        auto result = this->run(*run, isFatal);
        return answerOf(std::move(result), isFatal);
    }
    if (const auto* timing = std::get_if<TimingRequest>(&request)) {
        auto result = timeSubjects(*device_, cupti().value_or(nullptr), *timing, isFatal);
        return answerOf(std::move(result), isFatal);
    }
    if (std::holds_alternative<CeilingsRequest>(request)) {
        auto result = measureCeilings(*device_, isFatal);
        return answerOf(std::move(result), isFatal);
    }
    return describe();
}

Answer JobRunner::describe() {
    auto description = device_->describe();
    const auto library = cupti();
    if (!library)
        description.profilerProblem = library.error();
    else if (auto usable = checkProfiler(**library, *device_); !usable)
        description.profilerProblem = usable.error();
    return description;
}

Result<RunAnswer> JobRunner::run(const RunRequest& request, bool& isFatal) {
    const auto launch = PreparedLaunch::prepare(*device_, request.subject, request.seed);
    if (!launch)
        return std::unexpected(launch.error());
    auto done = (*launch)->launch();
    if (done)
        done = synchronise(device_->driver(), isFatal);
    if (!done)
        return std::unexpected(done.error());
    RunAnswer answer;
    if (request.wantOutputs) {
        auto outputs = (*launch)->outputs();
        if (!outputs)
            return std::unexpected(outputs.error());
        answer.outputs = std::move(*outputs);
    }
    if (auto repeated = repeat(request, **launch, answer, isFatal); !repeated)
        return std::unexpected(repeated.error());
    auto stray = (*launch)->strayWrites();
    if (!stray)
        return std::unexpected(stray.error());
    answer.notes = std::move(*stray);
    if (!request.metrics.empty()) {
        auto counted = count(request, **launch, answer, isFatal);
        // Times and results are useful without counters.
        if (!counted && (isFatal || counted.error().kind != ErrorKind::Missing))
            return std::unexpected(std::move(counted.error()));
        if (!counted)
            answer.notes.push_back("no hardware counters: " + counted.error().what);
    }
    if (request.timing) {
        const PreparedLaunch* const alone = launch->get();
        auto timing = timeLaunches(*device_, cupti().value_or(nullptr), {&alone, 1},
                                   *request.timing, isFatal);
        if (!timing)
            return std::unexpected(timing.error());
        answer.timing = std::move(*timing);
    }
    // Sampling comes last, because it loads the module anew.
    if (request.wantStalls) {
        if (auto sampled = sample(request, **launch, answer, isFatal); !sampled)
            return std::unexpected(sampled.error());
    }
    return answer;
}

Result<void> JobRunner::repeat(const RunRequest& request, const PreparedLaunch& launch,
                               RunAnswer& answer, bool& isFatal) const {
    for (std::uint32_t number = 1; number < request.launches; ++number) {
        auto done = launch.restore();
        if (done)
            done = launch.launch();
        if (done)
            done = synchronise(device_->driver(), isFatal);
        if (!done)
            return done;
        if (!request.wantOutputs)
            continue;
        auto outputs = launch.outputs();
        if (!outputs)
            return std::unexpected(outputs.error());
        if (!std::ranges::equal(*outputs, answer.outputs, {}, &BufferContents::bytes,
                                &BufferContents::bytes))
            answer.otherOutputs.push_back(std::move(*outputs));
    }
    return {};
}

Result<void> JobRunner::count(const RunRequest& request, const PreparedLaunch& launch,
                              RunAnswer& answer, bool& isFatal) {
    const auto profiler = this->profiler(request.metrics);
    if (!profiler)
        return std::unexpected(profiler.error());
    const auto sweep = CacheSweep::prepare(*device_);
    if (!sweep)
        return std::unexpected(sweep.error());
    auto counters = (*profiler)->count(launch, *sweep, isFatal);
    if (!counters)
        return std::unexpected(counters.error());
    answer.metrics = std::move(counters->metrics);
    answer.passes = counters->passes;
    for (const auto& metric : (*profiler)->unknown())
        answer.notes.push_back("this GPU has no metric " + metric);
    return {};
}

Result<void> JobRunner::sample(const RunRequest& request, const PreparedLaunch& launch,
                               RunAnswer& answer, bool& isFatal) {
    const auto library = cupti();
    if (!library)
        return std::unexpected(library.error());
    auto samples =
        sampleStalls(**library, *device_, request.subject, request.seed, launch, isFatal);
    // Counters are useful without samples.
    if (!samples && (isFatal || request.metrics.empty()))
        return std::unexpected(samples.error());
    if (!samples) {
        answer.notes.push_back("no samples of stalls: " + samples.error().what);
        return {};
    }
    answer.stalls = std::move(samples->lines);
    if (samples->total == 0)
        answer.notes.emplace_back("no samples of stalls: the kernel is too short");
    else if (samples->elsewhere > 0)
        answer.notes.push_back(std::to_string(samples->elsewhere) + " of " +
                               std::to_string(samples->total) +
                               " samples of stalls are of instructions without a line");
    if (samples->dropped > 0)
        answer.notes.push_back("the hardware dropped " + std::to_string(samples->dropped) +
                               " of the samples of stalls");
    return {};
}

} // namespace kernelskill::engine::gpu
