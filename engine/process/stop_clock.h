/// Stops at a point in time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace kernelskill::engine {

/// A thread that requests a stop of `source` at `end`, unless the thread is stopped before.
[[nodiscard]] inline std::jthread stopAt(std::chrono::steady_clock::time_point end,
                                         const std::stop_source& source) {
    return std::jthread([end, own = source](const std::stop_token& over) mutable {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any wake;
        wake.wait_until(lock, over, end, [] { return false; });
        if (!over.stop_requested())
            own.request_stop();
    });
}

} // namespace kernelskill::engine
