/// A stop token that stops some time after another one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace kernelskill::engine {

/// Requests a stop when `patience` has passed since `early` requested one, and at once when `now`
/// does.
class LateStop {
public:
    LateStop(const std::stop_token& early, std::chrono::milliseconds patience,
             const std::stop_token& now)
        : onNow_(now, [this] { inner_.request_stop(); }),
          onEarly_(early, [this, patience] { startClock(patience); }) {}

    [[nodiscard]] std::stop_token token() const { return inner_.get_token(); }

private:
    using Callback = std::stop_callback<std::function<void()>>;

    void startClock(std::chrono::milliseconds patience) {
        const auto end = std::chrono::steady_clock::now() + patience;
        clock_ = std::jthread([this, end](const std::stop_token& over) {
            std::mutex mutex;
            std::unique_lock lock(mutex);
            std::condition_variable_any wake;
            wake.wait_until(lock, over, end, [] { return false; });
            if (!over.stop_requested())
                inner_.request_stop();
        });
    }

    std::stop_source inner_;
    Callback onNow_;
    std::jthread clock_; ///< It uses the members above.
    Callback onEarly_;   ///< Declared last, because it sets the clock.
};

} // namespace kernelskill::engine
