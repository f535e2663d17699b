/// Signals that end a program, as requests to stop.
#pragma once

#include "lsp-server/commands/ending_signals.h"

#include <spdlog/fmt/fmt.h>

#include <csignal>
#include <cstdio>
#include <pthread.h>
#include <stop_token>
#include <thread>

namespace kernelskill::lsp {

/// Turns the first Ctrl-C, SIGTERM or SIGHUP into a request to stop; the second ends the process.
/// Ignored signals stay ignored, as SIGHUP under nohup.
class Interruption {
public:
    Interruption() {
        const sigset_t handled = withoutIgnored({SIGINT, SIGTERM, SIGHUP});
        sigset_t waited = handled;
        sigaddset(&waited, wakeUp);
        pthread_sigmask(SIG_BLOCK, &waited, &before_);
        waiter_ = std::jthread([this, handled, waited](const std::stop_token& over) {
            for (int signal = 0; signal <= 0 || sigismember(&handled, signal) == 0;) {
                signal = sigwaitinfo(&waited, nullptr);
                if (over.stop_requested())
                    return;
            }
            fmt::print(stderr, "\nstopping; again to give up\n");
            stop_.request_stop();
            pthread_sigmask(SIG_UNBLOCK, &handled, nullptr);
        });
    }
    ~Interruption() {
        if (!stop_.stop_requested()) {
            waiter_.request_stop();
            pthread_kill(waiter_.native_handle(), wakeUp);
        }
        waiter_ = {};
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

private:
    /// The destructor sends it to end the waiting.
    static constexpr int wakeUp = SIGINT;

    sigset_t before_{};
    std::stop_source stop_;
    std::jthread waiter_;
};

} // namespace kernelskill::lsp
