/// A stop token that stops some time after another one.
#pragma once

#include "engine/process/stop_clock.h"

#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace kernelskill::engine {

/// Requests a stop when `patience` has passed since `early` requested one, and at once when `now`
/// does.
class LateStop {
public:
    LateStop(const std::stop_token& early, std::chrono::milliseconds patience,
             const std::stop_token& now)
        : onNow_(now, [this] { inner_.request_stop(); }), onEarly_(early, [this, patience] {
              clock_ = stopAt(std::chrono::steady_clock::now() + patience, inner_);
          }) {}

    [[nodiscard]] std::stop_token token() const { return inner_.get_token(); }

private:
    using Callback = std::stop_callback<std::function<void()>>;

    std::stop_source inner_;
    Callback onNow_;
    std::jthread clock_;
    Callback onEarly_; ///< Declared last, because it sets the clock.
};

} // namespace kernelskill::engine
