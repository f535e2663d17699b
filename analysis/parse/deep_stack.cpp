#include "analysis/parse/deep_stack.h"

#include <clang-c/Index.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>

namespace kernelskill::analysis {

namespace {

constexpr unsigned deepStackBytes = 256u << 20;

/// A stack for the handler of a signal: when the thread's own has overflowed, nothing fits on it.
class SignalStack {
public:
    SignalStack() {
        ::sigaltstack(nullptr, &before_);
        if ((before_.ss_flags & SS_DISABLE) == 0)
            return; // A sanitizer has set one.
        memory_ = std::make_unique<Memory>();
        stack_t own{};
        own.ss_sp = memory_->data();
        own.ss_size = memory_->size();
        ::sigaltstack(&own, nullptr);
    }
    SignalStack(const SignalStack&) = delete;
    SignalStack& operator=(const SignalStack&) = delete;
    ~SignalStack() {
        if (memory_)
            ::sigaltstack(&before_, nullptr);
    }

private:
    using Memory = std::array<char, std::size_t{64} << 10>;
    std::unique_ptr<Memory> memory_;
    stack_t before_{};
};

/// libclang installs its handlers without SA_ONSTACK, so that an overflow would end the process.
void handleSignalsOnTheirStack() {
    for (const int number : {SIGSEGV, SIGBUS}) {
        struct sigaction current{};
        if (::sigaction(number, nullptr, &current) != 0 || (current.sa_flags & SA_ONSTACK) != 0 ||
            current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN)
            continue;
        current.sa_flags |= SA_ONSTACK;
        ::sigaction(number, &current, nullptr);
    }
}

struct Work {
    const std::function<void()>& task;
    std::exception_ptr failure;
};

} // namespace

void parseOnOwnThreads() {
    ::setenv("LIBCLANG_NOTHREADS", "1", 0);
}

void runOnDeepStack(const std::function<void()>& task) {
    handleSignalsOnTheirStack();
    Work work{task, nullptr};
    clang_executeOnThread(
        [](void* data) {
            Work& todo = *static_cast<Work*>(data);
            const SignalStack signals;
            try {
                todo.task();
            } catch (...) { // Thrown again on the thread that waits.
                todo.failure = std::current_exception();
            }
        },
        &work, deepStackBytes);
    if (work.failure)
        std::rethrow_exception(work.failure);
}

} // namespace kernelskill::analysis
