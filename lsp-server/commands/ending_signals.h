/// Signals that end a program.
#pragma once

#include <csignal>
#include <initializer_list>

namespace kernelskill::lsp {

/// Returns the signals that are not ignored; nohup, for example, ignores SIGHUP.
[[nodiscard]] inline sigset_t withoutIgnored(std::initializer_list<int> signals) {
    sigset_t handled;
    sigemptyset(&handled);
    for (const int signal : signals) {
        struct sigaction action{};
        ::sigaction(signal, nullptr, &action);
        if (action.sa_handler != SIG_IGN)
            sigaddset(&handled, signal);
    }
    return handled;
}

} // namespace kernelskill::lsp
