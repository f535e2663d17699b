#include "engine/model/retry.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <iomanip>
#include <locale>
#include <mutex>
#include <sstream>
#include <string>

namespace kernelskill::engine {

using std::chrono::milliseconds;

std::optional<milliseconds> retryAfter(std::string_view header,
                                       std::chrono::system_clock::time_point now) {
    if (header.empty())
        return std::nullopt;
    constexpr double longest = 1e9; // Seconds, about 30 years; more would overflow a duration.
    double seconds = 0;
    const auto [end, error] =
        std::from_chars(header.data(), header.data() + header.size(), seconds);
    if (error == std::errc() && end == header.data() + header.size())
        return seconds >= 0 ? std::optional(milliseconds(
                                  static_cast<long long>(std::min(seconds, longest) * 1000)))
                            : std::nullopt;
    std::istringstream stream{std::string(header)};
    stream.imbue(std::locale::classic());
    std::tm date{};
    if (!(stream >> std::get_time(&date, "%a, %d %b %Y %H:%M:%S GMT")))
        return std::nullopt;
    const auto left = std::chrono::system_clock::from_time_t(::timegm(&date)) - now;
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(left));
}

std::optional<milliseconds> waitBeforeRetry(const RetryPolicy& policy, int attempt,
                                            std::optional<milliseconds> asked, double jitter) {
    if (attempt >= policy.attempts)
        return std::nullopt;
    if (asked)
        return *asked <= policy.longest ? asked : std::nullopt;
    const double backOff =
        std::min(std::ldexp(static_cast<double>(policy.first.count()), attempt - 1),
                 static_cast<double>(policy.longest.count()));
    return milliseconds(static_cast<long long>(backOff * (1 - 0.25 * jitter)));
}

bool waitFor(milliseconds time, std::stop_token stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any wake;
    wake.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
}

} // namespace kernelskill::engine
