/// Waits for a lock that another thread may hold for long.
#pragma once

#include "analysis/source/error.h"

#include <chrono>
#include <mutex>
#include <stop_token>

namespace kernelskill::engine {

/// Cancelled if `stop` comes first; then the lock is not held.
[[nodiscard]] inline Result<std::unique_lock<std::timed_mutex>>
lockUnlessStopped(std::timed_mutex& mutex, const std::stop_token& stop) {
    constexpr std::chrono::milliseconds betweenLooks{50};
    std::unique_lock lock(mutex, std::defer_lock);
    while (!lock.try_lock_for(betweenLooks)) {
        if (stop.stop_requested())
            return std::unexpected(Error{ErrorKind::Cancelled, "cancelled", "", ""});
    }
    return lock;
}

} // namespace kernelskill::engine
