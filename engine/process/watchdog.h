/// Ends a child of the server if a job takes too long or the server is gone. What a GPU or a
/// library does cannot be stopped in another way.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace kernelskill::engine {

class Watchdog {
public:
    /// Makes the frame that answers a job which did not end within the time.
    using LateAnswer = std::function<std::vector<std::byte>(std::chrono::milliseconds)>;

    /// `server` is the descriptor of requests, `answers` that of answers.
    Watchdog(int server, int answers, LateAnswer lateAnswer);

    /// Watches a job for as long as it lives.
    class [[nodiscard]] Guard {
    public:
        explicit Guard(Watchdog& watchdog) : watchdog_(watchdog) {}
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;
        ~Guard() { watchdog_.disarm(); }

    private:
        Watchdog& watchdog_;
    };
    /// If `time` passes before the guard ends, sends the late answer and ends the process.
    Guard guard(std::chrono::milliseconds time);

    /// Sends an answer completely. Returns false if the server is gone.
    bool send(std::span<const std::byte> frame);

private:
    using Clock = std::chrono::steady_clock;

    void watch(const std::stop_token& stop);
    void disarm();

    int server_;
    int answers_;
    LateAnswer lateAnswer_;
    std::mutex mutex_; ///< Guards the deadline, and the right to answer.
    std::optional<Clock::time_point> deadline_;
    std::chrono::milliseconds time_{0};
    std::jthread thread_;
};

} // namespace kernelskill::engine
