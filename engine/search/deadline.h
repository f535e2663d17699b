/// A stop token that also stops at a point in time.
#pragma once

#include "engine/process/stop_clock.h"

#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace kernelskill::engine {

/// Requests a stop at a point in time, or when `outer` does.
class Deadline {
public:
    using Clock = std::chrono::steady_clock;

    Deadline(Clock::time_point end, const std::stop_token& outer)
        : end_(end), onOuter_(outer, [this] { inner_.request_stop(); }),
          clock_(stopAt(end, inner_)) {}

    [[nodiscard]] std::stop_token token() const { return inner_.get_token(); }
    [[nodiscard]] bool hasPassed() const { return Clock::now() >= end_; }

private:
    Clock::time_point end_;
    std::stop_source inner_;
    std::stop_callback<std::function<void()>> onOuter_;
    std::jthread clock_;
};

} // namespace kernelskill::engine
