#include "engine/execution/emulator/kept_runs.h"

#include <utility>

namespace kernelskill::engine::emulator {
namespace {

/// About the memory that a report takes.
std::uint64_t bytesOf(const WorkerReport& report) {
    constexpr std::uint64_t ofTheRest = 4096;
    std::uint64_t bytes = ofTheRest + report.printed.size() +
                          report.sites.size() * sizeof(Counters) +
                          report.hazards.size() * sizeof(HazardReport);
    for (const BufferContents& output : report.outputs)
        bytes += output.bytes.size();
    return bytes;
}

} // namespace

Result<std::shared_ptr<const KeptRun>> KeptRuns::of(const std::string& key, const Run& run,
                                                    const std::stop_token& stop,
                                                    CutOffRuns cutOffs) {
    std::unique_lock lock(mutex_);
    // If the thread that makes it fails, one of those that wait tries.
    for (auto found = entries_.find(key); found != entries_.end(); found = entries_.find(key)) {
        if (found->second.run) {
            order_.splice(order_.end(), order_, found->second.place);
            return found->second.run;
        }
        const bool isSettled = changed_.wait(lock, stop, [&] {
            const auto entry = entries_.find(key);
            return entry == entries_.end() || entry->second.run != nullptr;
        });
        if (!isSettled)
            return std::unexpected(Error{ErrorKind::Cancelled, "the run was cancelled", {}, {}});
    }
    entries_[key];
    lock.unlock();
    const auto begin = std::chrono::steady_clock::now();
    auto report = run();
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    std::shared_ptr<const KeptRun> made;
    if (report)
        made = std::make_shared<const KeptRun>(std::move(*report), took);
    lock.lock();
    const auto isWanted = [&](const std::optional<WorkerFailure>& failure) {
        return !failure || (failure->isCutOff && cutOffs == CutOffRuns::Kept);
    };
    if (made && isWanted(made->report.failure))
        keep(key, made);
    else
        entries_.erase(key);
    changed_.notify_all();
    if (!report)
        return std::unexpected(std::move(report.error()));
    return made;
}

/// Called with the lock.
void KeptRuns::keep(const std::string& key, std::shared_ptr<const KeptRun> run) {
    const std::uint64_t bytes = bytesOf(run->report);
    order_.push_back(key);
    entries_[key] = {std::move(run), bytes, std::prev(order_.end())};
    bytes_ += bytes;
    while (bytes_ > maxBytes_) { // Also itself, if it is larger than all together may be.
        const auto oldest = entries_.find(order_.front());
        bytes_ -= oldest->second.bytes;
        entries_.erase(oldest);
        order_.pop_front();
    }
}

} // namespace kernelskill::engine::emulator
