#include "lsp-server/commands/user_program.h"

#include "engine/process/argument_pointers.h"
#include "engine/process/own_environment.h"
#include "lsp-server/commands/ending_signals.h"

#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernelskill::lsp {
namespace {

/// While it lives, an interrupt ends the program in front, not kernelskill.
class InterruptsIgnored {
public:
    InterruptsIgnored() {
        struct sigaction ignore{};
        ignore.sa_handler = SIG_IGN;
        ::sigaction(SIGINT, &ignore, &before_);
    }
    InterruptsIgnored(const InterruptsIgnored&) = delete;
    InterruptsIgnored& operator=(const InterruptsIgnored&) = delete;
    ~InterruptsIgnored() { ::sigaction(SIGINT, &before_, nullptr); }

private:
    struct sigaction before_{};
};

/// Passes SIGTERM and SIGHUP on to a child instead of ending this process. It is made before the
/// child, so that it sees the child's end in any case.
class SignalsPassedOn {
public:
    SignalsPassedOn() {
        sigaddset(&awaited_, SIGCHLD);
        ::pthread_sigmask(SIG_BLOCK, &awaited_, &before_);
    }
    SignalsPassedOn(const SignalsPassedOn&) = delete;
    SignalsPassedOn& operator=(const SignalsPassedOn&) = delete;
    ~SignalsPassedOn() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

    /// The signals that were blocked before.
    [[nodiscard]] const sigset_t& before() const { return before_; }
    /// Waits for the child's end and returns its status, as waitpid() does.
    [[nodiscard]] int statusOf(pid_t child) const {
        int status = 0;
        while (::waitpid(child, &status, WNOHANG) == 0) {
            const int signal = ::sigwaitinfo(&awaited_, nullptr);
            if (signal == SIGTERM || signal == SIGHUP)
                ::kill(child, signal);
        }
        return status;
    }

private:
    sigset_t awaited_ = withoutIgnored({SIGTERM, SIGHUP});
    sigset_t before_{};
};

} // namespace

Result<int> runUserProgram(const UserProgram& program) {
    const InterruptsIgnored ignored;
    const SignalsPassedOn passedOn;
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t defaults;
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGINT); // an ignored signal would stay ignored in the program
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setsigmask(&attributes, &passedOn.before());
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    if (program.isOutputApart)
        ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    if (!program.folder.empty())
        ::posix_spawn_file_actions_addchdir_np(&actions, program.folder.c_str());
    auto words = program.words;
    auto variables = engine::ownEnvironmentWith(program.environment, program.folder);
    pid_t child = -1;
    const int problem = ::posix_spawnp(&child, words.front().c_str(), &actions, &attributes,
                                       engine::argumentPointers(words).data(),
                                       engine::argumentPointers(variables).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (problem != 0)
        return std::unexpected(
            Error{ErrorKind::Missing,
                  "the program cannot be started: " + std::string(std::strerror(problem)),
                  program.words.front(), "look at its name and whether it may be executed"});
    const int status = passedOn.statusOf(child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace kernelskill::lsp
