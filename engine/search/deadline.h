/// A stop token that also stops at a point in time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace kernelskill::engine {

/// Requests a stop at a point in time, or when `outer` does.
class Deadline {
public:
    using Clock = std::chrono::steady_clock;

    Deadline(Clock::time_point end, const std::stop_token& outer)
        : end_(end), onOuter_(outer, [this] { inner_.request_stop(); }),
          clock_([this](const std::stop_token& over) {
              std::mutex mutex;
              std::unique_lock lock(mutex);
              std::condition_variable_any wake;
              wake.wait_until(lock, over, end_, [] { return false; });
              if (!over.stop_requested())
                  inner_.request_stop();
          }) {}

    [[nodiscard]] std::stop_token token() const { return inner_.get_token(); }
    [[nodiscard]] bool hasPassed() const { return Clock::now() >= end_; }

private:
    Clock::time_point end_;
    std::stop_source inner_;
    std::stop_callback<std::function<void()>> onOuter_;
    std::jthread clock_; ///< Declared last, because it uses the other members.
};

} // namespace kernelskill::engine
