/// Waits for results that the caller may give up.
#pragma once

#include <chrono>
#include <future>
#include <stop_token>

namespace kernelskill::engine {

/// Waits until the future is ready, or `stop` is requested: then it returns false.
template <typename Future>
[[nodiscard]] bool awaitResult(const Future& future, const std::stop_token& stop) {
    constexpr std::chrono::milliseconds betweenLooks{20};
    while (future.wait_for(betweenLooks) != std::future_status::ready)
        if (stop.stop_requested())
            return false;
    return true;
}

} // namespace kernelskill::engine
