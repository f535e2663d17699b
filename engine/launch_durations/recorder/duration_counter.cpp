#include "engine/launch_durations/recorder/duration_counter.h"

#include "engine/replay/recorder/own_calls.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine::launch_durations {
namespace {

using replay::OwnCalls;

/// CUPTI keeps the counters of so many launches at a time.
constexpr std::size_t batchLaunches = 256;

const std::vector<std::string>& metrics() {
    static const std::vector<std::string> names{"gpu__time_duration.sum"};
    return names;
}

} // namespace

Result<void> DurationCounter::create() {
    const std::scoped_lock lock(mutex_);
    file_ = ::open(target_.file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file_ < 0)
        return std::unexpected(Error{ErrorKind::Failed,
                                     errno == EEXIST ? "another process of the program is measured"
                                                     : "its file cannot be written",
                                     target_.file,
                                     {}});
    write(durationHead());
    return {};
}

bool DurationCounter::begin(const char* symbol, CUcontext context) {
    const std::scoped_lock lock(mutex_);
    if (isOver_)
        return false;
    const OwnCalls own;
    const bool isFirst = profiler_ == nullptr;
    if (const auto added = add(symbol, context); !added)
        stop(added.error().what);
    return isFirst;
}

Result<void> DurationCounter::add(const char* symbol, CUcontext context) {
    const auto refused = [](std::string why) {
        return std::unexpected(Error{ErrorKind::Unsupported, std::move(why), {}, {}});
    };
    if (profiler_ == nullptr) {
        thread_ = std::this_thread::get_id();
        if (auto opened = open(context); !opened)
            return opened;
    }
    if (thread_ != std::this_thread::get_id())
        return refused("several of its threads launch kernels");
    if (profiler_->context != context)
        return refused("it launches kernels in several contexts");
    if (launches_ == target_.launches)
        return refused("the first " + std::to_string(launches_) + " launches are enough");
    if (batch_.size() == batchLaunches) {
        if (auto ended = endBatch(); !ended)
            return ended;
        if (auto started = startBatch(); !started)
            return started;
    }
    ++launches_;
    batch_.emplace_back(symbol != nullptr ? symbol : "");
    return {};
}

void DurationCounter::end(const std::string& why) {
    const std::scoped_lock lock(mutex_);
    if (isOver_ || profiler_ == nullptr)
        return;
    const OwnCalls own;
    stop(why);
}

Result<void> DurationCounter::open(CUcontext context) {
    CUdevice device = 0;
    if (auto found = driver_.check("the device", driver_.cuCtxGetDevice(&device)); !found)
        return found;
    if (auto ready = gpu::initialiseProfiler(cupti_); !ready)
        return ready;
    auto host = gpu::MetricHost::make(cupti_, device, context);
    if (!host)
        return std::unexpected(host.error());
    if (auto added = host->add(metrics()); !added || added->empty())
        return std::unexpected(
            added ? Error{ErrorKind::Unsupported, "this GPU does not measure durations", {}, {}}
                  : added.error());
    auto configuration = host->configuration();
    if (!configuration)
        return std::unexpected(configuration.error());
    profiler_ = std::make_unique<Profiler>(context, *std::move(host), *std::move(configuration));
    return startBatch();
}

Result<void> DurationCounter::startBatch() {
    auto session = gpu::RangeSession::enable(cupti_, profiler_->context);
    if (!session)
        return std::unexpected(session.error());
    if (auto configured = session->configure(metrics(), profiler_->configuration, batchLaunches);
        !configured)
        return configured;
    if (auto started = session->start(); !started)
        return started;
    profiler_->session.emplace(*std::move(session));
    return {};
}

Result<void> DurationCounter::endBatch() {
    if (auto done = driver_.check("earlier work", driver_.cuCtxSynchronize()); !done)
        return done;
    if (!profiler_->session)
        return {};
    if (auto last = profiler_->session->stop(); !last)
        return std::unexpected(last.error());
    const auto counters = profiler_->session->counters();
    if (!counters)
        return std::unexpected(counters.error());
    std::string lines;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
        const auto values = profiler_->host.evaluate(*counters, metrics(), i);
        if (!values)
            return std::unexpected(values.error());
        constexpr double nanoseconds = 1e-3;
        if (const auto found = values->find(metrics().front()); found != values->end())
            lines += durationLine(batch_[i], found->second * nanoseconds);
    }
    batch_.clear();
    profiler_->session.reset();
    write(lines);
    return {};
}

void DurationCounter::stop(const std::string& why) {
    isOver_ = true;
    std::string problem = why;
    if (profiler_ != nullptr) {
        if (const auto ended = endBatch(); !ended && problem.empty())
            problem = ended.error().what;
        profiler_.reset();
    }
    if (!problem.empty())
        write(durationProblem(problem));
}

void DurationCounter::write(const std::string& lines) const {
    std::size_t done = 0;
    while (done < lines.size()) {
        const auto written = ::write(file_, lines.data() + done, lines.size() - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; // A full disk is no reason to disturb the program.
        done += static_cast<std::size_t>(written);
    }
}

} // namespace kernelskill::engine::launch_durations
