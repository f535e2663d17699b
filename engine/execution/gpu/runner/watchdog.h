/// Ends the process when a job is late or the server is gone: a kernel that hangs cannot be stopped
/// in any other way.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>

namespace kernelskill::engine::gpu {

class Watchdog {
public:
    /// `server` is where requests come from, `answers` where answers go.
    Watchdog(int server, int answers);

    /// A job under watch as long as this lives.
    class [[nodiscard]] Guard {
    public:
        explicit Guard(Watchdog& watchdog) : watchdog_(watchdog) {}
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;
        ~Guard() { watchdog_.disarm(); }

    private:
        Watchdog& watchdog_;
    };
    /// When `time` passes first, answers that the kernel did not end, and ends the process.
    Guard guard(std::chrono::milliseconds time);

    /// Sends an answer whole. False when the server is gone.
    bool send(std::span<const std::byte> frame);

private:
    using Clock = std::chrono::steady_clock;

    void watch(const std::stop_token& stop);
    void disarm();

    int server_;
    int answers_;
    std::mutex mutex_; ///< Of the deadline, and of the right to answer.
    std::optional<Clock::time_point> deadline_;
    std::chrono::milliseconds time_{0};
    std::jthread thread_;
};

} // namespace kernelskill::engine::gpu
