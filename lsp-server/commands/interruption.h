/// Ctrl-C as a request to stop.
#pragma once

#include <spdlog/fmt/fmt.h>

#include <csignal>
#include <cstdio>
#include <pthread.h>
#include <stop_token>
#include <thread>

namespace kernelskill::lsp {

/// While it lives, Ctrl-C asks to stop, once; the second ends the process.
class Interruption {
public:
    Interruption() {
        sigset_t interrupt;
        sigemptyset(&interrupt);
        sigaddset(&interrupt, SIGINT);
        pthread_sigmask(SIG_BLOCK, &interrupt, &before_);
        waiter_ = std::jthread([this, interrupt](const std::stop_token& over) {
            while (sigwaitinfo(&interrupt, nullptr) != SIGINT) {
            }
            if (over.stop_requested()) // It is the destructor's.
                return;
            fmt::print(stderr, "\nstopping; again to give up\n");
            stop_.request_stop();
            pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
        });
    }
    ~Interruption() {
        if (!stop_.stop_requested()) {
            waiter_.request_stop();
            pthread_kill(waiter_.native_handle(), SIGINT);
        }
        waiter_ = {};
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

private:
    sigset_t before_{};
    std::stop_source stop_;
    std::jthread waiter_;
};

} // namespace kernelskill::lsp
