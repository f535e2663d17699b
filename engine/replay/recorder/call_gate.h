/// Lets the program's threads into the driver, or makes them wait while one of them is held.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace kernelskill::engine::replay {

/// Thread-safe.
class CallGate {
public:
    /// Called when a thread begins a call of the driver that is not inside another of its calls.
    /// Waits while the gate is closed.
    void enter() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !isClosed_; });
        ++inside_;
    }
    /// Called when that call ends.
    void leave() {
        const std::scoped_lock lock(mutex_);
        --inside_;
        changed_.notify_all();
    }
    /// Called by a thread that is inside: closes the gate, and waits until no other thread is
    /// inside. Returns false, with the gate open, if that takes longer than `time` or if it is
    /// closed.
    [[nodiscard]] bool close(std::chrono::milliseconds time) {
        std::unique_lock lock(mutex_);
        if (isClosed_)
            return false;
        isClosed_ = true;
        if (changed_.wait_for(lock, time, [&] { return inside_ == 1; }))
            return true;
        isClosed_ = false;
        changed_.notify_all();
        return false;
    }
    void open() {
        const std::scoped_lock lock(mutex_);
        isClosed_ = false;
        changed_.notify_all();
    }

private:
    std::mutex mutex_; ///< Guards all members below.
    std::condition_variable changed_;
    std::uint64_t inside_ = 0;
    bool isClosed_ = false;
};

} // namespace kernelskill::engine::replay
