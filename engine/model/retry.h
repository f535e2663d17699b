/// When to ask a service again that could not answer.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace kernelskill::engine {

struct RetryPolicy {
    int attempts = 4;                          ///< In all.
    std::chrono::milliseconds first{1'000};    ///< Then twice as long each time.
    std::chrono::milliseconds longest{60'000}; ///< A service that wants more is given up.
};

/// What a `Retry-After` asks for: seconds, or a date, of which `now` is taken off. nullopt for
/// anything else.
[[nodiscard]] std::optional<std::chrono::milliseconds>
retryAfter(std::string_view header, std::chrono::system_clock::time_point now);

/// How long to wait after attempt number `attempt` (from 1) has failed: what the service asks for,
/// or the back-off, shortened by up to a quarter (`jitter` in [0, 1)), so that many who failed
/// together do not come back together. nullopt: not to be tried again.
[[nodiscard]] std::optional<std::chrono::milliseconds>
waitBeforeRetry(const RetryPolicy& policy, int attempt,
                std::optional<std::chrono::milliseconds> asked, double jitter);

/// False when `stop` asked first.
[[nodiscard]] bool waitFor(std::chrono::milliseconds time, std::stop_token stop);

} // namespace kernelskill::engine
