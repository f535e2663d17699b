#include "engine/execution/emulator/worker_process.h"

#include <algorithm>
#include <cstddef>
#include <thread>
#include <utility>

namespace kernelskill::engine::emulator {

namespace {

/// The worker enforces the job's limit in processor time and can explain it better. On a busy
/// machine that takes longer in wall-clock time, by up to this factor.
constexpr int patience = 8;
constexpr std::chrono::milliseconds grace{3000};
constexpr std::size_t fewestKeptWorkers = 8;

/// So many workers may run at once; one that is not kept has to be started anew for a later run.
std::size_t maxIdleWorkers() {
    return std::max<std::size_t>(fewestKeptWorkers, std::thread::hardware_concurrency());
}

} // namespace

Result<std::unique_ptr<WorkerProcess>>
WorkerProcess::start(const std::filesystem::path& executable) {
    auto child = FramedChild::start({executable, {"emulator-worker"}, {}, "emulator worker"});
    if (!child)
        return std::unexpected(child.error());
    return std::unique_ptr<WorkerProcess>(new WorkerProcess(std::move(*child)));
}

Result<WorkerReport> WorkerProcess::run(const WorkerJob& job, std::chrono::milliseconds time,
                                        std::stop_token stop) {
    const auto payload = child_->exchange(encode(job), time, std::move(stop));
    if (!payload)
        return std::unexpected(payload.error());
    return decodeReport(*payload);
}

Result<std::unique_ptr<WorkerProcess>> WorkerPool::take() {
    {
        const std::scoped_lock lock{mutex_};
        while (!idle_.empty()) {
            std::unique_ptr<WorkerProcess> worker = std::move(idle_.back());
            idle_.pop_back();
            if (worker->isAlive())
                return worker;
        }
    }
    return WorkerProcess::start(executable_);
}

Result<WorkerReport> WorkerPool::run(const WorkerJob& job, std::stop_token stop) {
    auto worker = take();
    if (!worker)
        return std::unexpected(worker.error());
    auto report = (*worker)->run(job, patience * job.job.limits.time + grace, std::move(stop));
    if (report) {
        const std::scoped_lock lock{mutex_};
        if (idle_.size() < maxIdleWorkers())
            idle_.push_back(std::move(*worker));
    }
    return report;
}

} // namespace kernelskill::engine::emulator
