/// Waits for a lock that another thread may hold for long.
#pragma once

#include "analysis/source/error.h"

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <stop_token>

namespace kernelskill::engine {

/// Cancelled if `stop` comes first; then the lock is not held.
template <typename Mutex, typename Lock = std::unique_lock<Mutex>>
[[nodiscard]] Result<Lock> lockUnlessStopped(Mutex& mutex, const std::stop_token& stop) {
    constexpr std::chrono::milliseconds betweenLooks{50};
    Lock lock(mutex, std::defer_lock);
    while (!lock.try_lock_for(betweenLooks)) {
        if (stop.stop_requested())
            return std::unexpected(Error{ErrorKind::Cancelled, "cancelled", "", ""});
    }
    return lock;
}

/// As lockUnlessStopped(), but others may share the lock.
[[nodiscard]] inline Result<std::shared_lock<std::shared_timed_mutex>>
shareUnlessStopped(std::shared_timed_mutex& mutex, const std::stop_token& stop) {
    return lockUnlessStopped<std::shared_timed_mutex, std::shared_lock<std::shared_timed_mutex>>(
        mutex, stop);
}

} // namespace kernelskill::engine
