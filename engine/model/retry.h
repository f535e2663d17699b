/// Decides when to ask a service again that could not answer.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace kernelskill::engine {

struct RetryPolicy {
    int attempts = 4;                          ///< Attempts in total.
    std::chrono::milliseconds first{1'000};    ///< The first delay; doubles each time.
    std::chrono::milliseconds longest{60'000}; ///< If a service asks for a longer delay, gives up.
};

/// The delay that a `Retry-After` header asks for: seconds, or a date relative to `now`. nullopt
/// for anything else.
[[nodiscard]] std::optional<std::chrono::milliseconds>
retryAfter(std::string_view header, std::chrono::system_clock::time_point now);

/// The delay after attempt number `attempt` (from 1) failed: the service's wish, or the back-off.
/// It is shortened by up to a quarter (`jitter` in [0, 1)), so that clients that failed together do
/// not return together. nullopt: do not try again.
[[nodiscard]] std::optional<std::chrono::milliseconds>
waitBeforeRetry(const RetryPolicy& policy, int attempt,
                std::optional<std::chrono::milliseconds> asked, double jitter);

/// False if `stop` was requested first.
[[nodiscard]] bool waitFor(std::chrono::milliseconds time, std::stop_token stop);

} // namespace kernelskill::engine
