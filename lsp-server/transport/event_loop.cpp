#include "lsp-server/transport/event_loop.h"

#include <boost/asio.hpp>

#include <utility> // Asio 1.74 and 1.81 use std::exchange without it.

namespace kernelskill::lsp {

struct Timer::State {
    explicit State(boost::asio::io_context& context) : timer(context) {}
    boost::asio::steady_timer timer;
    bool isCancelled = false;
};

Timer& Timer::operator=(Timer&& other) noexcept {
    if (this != &other) {
        cancel();
        state_ = std::move(other.state_);
    }
    return *this;
}

void Timer::cancel() {
    if (!state_)
        return;
    state_->isCancelled = true;
    state_->timer.cancel();
    state_.reset();
}

struct EventLoop::Impl {
    FailureHandler onFailure;
    boost::asio::io_context context{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard{
        context.get_executor()};
};

EventLoop::EventLoop(FailureHandler onFailure)
    : impl_(std::make_unique<Impl>(std::move(onFailure))) {}
EventLoop::~EventLoop() = default;

void EventLoop::run() {
    for (;;) {
        try {
            impl_->context.run();
            return;
        } catch (const std::exception& failure) {
            impl_->onFailure(failure);
        }
    }
}

void EventLoop::stop() {
    impl_->context.stop();
}
boost::asio::io_context& EventLoop::context() {
    return impl_->context;
}

void EventLoop::post(Task task) {
    boost::asio::post(impl_->context, std::move(task));
}

Timer EventLoop::after(std::chrono::milliseconds delay, Task task) {
    Timer timer;
    timer.state_ = std::make_shared<Timer::State>(impl_->context);
    timer.state_->timer.expires_after(delay);
    // A timer that has expired can be cancelled before its handler runs: the flag tells.
    timer.state_->timer.async_wait([state = timer.state_, task = std::move(task)](
                                       const boost::system::error_code& error) mutable {
        if (!error && !state->isCancelled)
            task();
    });
    return timer;
}

struct WorkerPool::Impl {
    Impl(unsigned threads, FailureHandler handler) : onFailure(std::move(handler)), pool(threads) {}
    FailureHandler onFailure;
    boost::asio::thread_pool pool;
};

WorkerPool::WorkerPool(unsigned threads, FailureHandler onFailure)
    : impl_(std::make_unique<Impl>(threads, std::move(onFailure))) {}

WorkerPool::~WorkerPool() {
    impl_->pool.stop();
    impl_->pool.join();
}

void WorkerPool::post(Task task) {
    boost::asio::post(impl_->pool, [impl = impl_.get(), task = std::move(task)]() mutable {
        try {
            task();
        } catch (const std::exception& failure) {
            impl->onFailure(failure);
        }
    });
}

} // namespace kernelskill::lsp
