#include "lsp-server/supervisor/server_process.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace kernelskill::lsp {

using engine::FileDescriptor;

namespace {

struct Pipe {
    FileDescriptor readEnd;
    FileDescriptor writeEnd;
};

std::optional<Pipe> makePipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        return std::nullopt;
    return Pipe{FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

/// The child's part of start(). `parent` is the process that has forked.
[[noreturn]] void serveInChild(const Pipe& input, const Pipe& output, pid_t parent,
                               const std::function<int()>& serve) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have ended before that.
    if (getppid() != parent || dup2(input.readEnd.get(), STDIN_FILENO) < 0 ||
        dup2(output.writeEnd.get(), STDOUT_FILENO) < 0)
        std::_Exit(1);
    // The parent's own, of its event loop and of these pipes among them.
    close_range(STDERR_FILENO + 1, ~0U, 0);
    std::_Exit(serve());
}

} // namespace

Result<ServerProcess> ServerProcess::start(const std::function<int()>& serve) {
    auto input = makePipe();
    auto output = makePipe();
    const pid_t parent = getpid();
    const pid_t process = input && output ? fork() : -1;
    if (process < 0)
        return std::unexpected(
            Error{ErrorKind::Failed,
                  fmt::format("the server cannot be started: {}", std::strerror(errno)), "",
                  "free memory or processes, and start it again"});
    if (process == 0)
        serveInChild(*input, *output, parent, serve);
    return ServerProcess(process, std::move(input->writeEnd), std::move(output->readEnd));
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)), input_(std::move(other.input_)),
      output_(std::move(other.output_)) {}

ServerProcess::~ServerProcess() {
    if (process_ < 0)
        return;
    kill(process_, SIGKILL);
    static_cast<void>(wait());
}

ServerProcess::End ServerProcess::wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    if (WIFSIGNALED(status))
        return {128 + WTERMSIG(status),
                fmt::format("signal {}, {}", WTERMSIG(status), strsignal(WTERMSIG(status)))};
    return {WEXITSTATUS(status), ""};
}

} // namespace kernelskill::lsp
