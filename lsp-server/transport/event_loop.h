/// The thread that owns the server's state, and the pools that work for it.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace kernelskill::lsp {

using Task = std::move_only_function<void()>;

/// Runs when due unless it is destroyed or cancelled before. Belongs to the loop's thread.
class Timer {
public:
    Timer() = default;
    Timer(Timer&&) noexcept = default;
    Timer& operator=(Timer&& other) noexcept;
    ~Timer() { cancel(); }
    void cancel();

private:
    friend class EventLoop;
    struct State;
    std::shared_ptr<State> state_;
};

/// Told when a task lets an exception escape: a defect, but no reason to take the user's session
/// down.
using FailureHandler = std::function<void(const std::exception&)>;

/// Tasks run one after another on the thread that called run().
class EventLoop {
public:
    explicit EventLoop(FailureHandler onFailure);
    ~EventLoop();

    /// Returns after stop().
    void run();
    /// Any thread. Tasks not yet begun are dropped.
    void stop();
    /// Any thread.
    void post(Task task);
    /// The loop's thread.
    [[nodiscard]] Timer after(std::chrono::milliseconds delay, Task task);
    [[nodiscard]] boost::asio::io_context& context();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// A fixed number of threads for work that must not block the loop. Any thread may post.
class WorkerPool {
public:
    WorkerPool(unsigned threads, FailureHandler onFailure);
    /// Drops tasks not yet begun and waits for the others.
    ~WorkerPool();
    void post(Task task);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace kernelskill::lsp
