#include "engine/process/child_process.h"

#include "engine/process/argument_pointers.h"
#include "engine/process/file_descriptor.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::size_t maxOutputBytes = 4u << 20;

struct Pipe {
    FileDescriptor read;
    FileDescriptor write;
};

Result<Pipe> makePipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return std::unexpected(
            Error{ErrorKind::Failed, std::string("no pipe: ") + std::strerror(errno), {}, {}});
    return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

std::vector<std::string> cleanEnvironment() {
    std::vector<std::string> result{"LANG=C", "LC_ALL=C"};
    for (const char* name : {"PATH", "TMPDIR"}) {
        if (const char* value = std::getenv(name))
            result.push_back(std::string(name) + "=" + value);
    }
    return result;
}

/// Standard input is a socket, because writing to a socket can avoid SIGPIPE.
Result<Pipe> makeInput() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return std::unexpected(
            Error{ErrorKind::Failed, std::string("no socket: ") + std::strerror(errno), {}, {}});
    return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

Result<pid_t> spawn(const ChildCommand& command, int input, int output, int messages) {
    std::vector<std::string> arguments{command.program.string()};
    arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
    auto environment = cleanEnvironment();
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    pid_t pid = 0;
    const int error =
        ::posix_spawn(&pid, command.program.c_str(), &actions, &attributes,
                      argumentPointers(arguments).data(), argumentPointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        return std::unexpected(Error{ErrorKind::Missing,
                                     std::string("cannot start it: ") + std::strerror(error),
                                     command.program.string(),
                                     {}});
    return pid;
}

int waitFor(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Reads the available bytes; closes the descriptor at its end.
void drain(FileDescriptor& from, std::string& into) {
    std::array<char, 65536> buffer{};
    const auto count = ::read(from.get(), buffer.data(), buffer.size());
    if (count > 0 && into.size() < maxOutputBytes)
        into.append(buffer.data(), static_cast<std::size_t>(count));
    else if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
        from.close();
}

void feed(FileDescriptor& to, const std::string& text, std::size_t& written) {
    const auto count =
        ::send(to.get(), text.data() + written, text.size() - written, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0)
        written += static_cast<std::size_t>(count);
    if (written == text.size() || (count < 0 && errno != EINTR && errno != EAGAIN))
        to.close();
}

} // namespace

Result<ChildOutcome> runChild(const ChildCommand& command, std::stop_token stop) {
    auto input = makeInput();
    auto output = makePipe();
    auto messages = makePipe();
    if (!input || !output || !messages)
        return std::unexpected(!input    ? input.error()
                               : !output ? output.error()
                                         : messages.error());
    const auto pid = spawn(command, input->read.get(), output->write.get(), messages->write.get());
    if (!pid)
        return std::unexpected(pid.error());
    input->read.close();
    output->write.close();
    messages->write.close();

    ChildOutcome outcome;
    std::size_t written = 0;
    if (command.input.empty())
        input->write.close();
    const auto deadline = std::chrono::steady_clock::now() + command.time;
    while (output->read.isOpen() || messages->read.isOpen()) {
        const bool late = std::chrono::steady_clock::now() >= deadline;
        if (late || stop.stop_requested()) {
            ::kill(-*pid, SIGKILL);
            waitFor(*pid);
            if (late)
                return std::unexpected(
                    Error{ErrorKind::Failed,
                          "timed out after " + std::to_string(command.time.count()) + " ms",
                          command.program.string(),
                          {}});
            return std::unexpected(
                Error{ErrorKind::Cancelled, "cancelled", command.program.string(), {}});
        }
        std::array<pollfd, 3> waits = {pollfd{output->read.get(), POLLIN, 0},
                                       pollfd{messages->read.get(), POLLIN, 0},
                                       pollfd{input->write.get(), POLLOUT, 0}};
        ::poll(waits.data(), waits.size(), 20);
        if (waits[0].revents != 0)
            drain(output->read, outcome.output);
        if (waits[1].revents != 0)
            drain(messages->read, outcome.messages);
        if ((waits[2].revents & POLLOUT) != 0)
            feed(input->write, command.input, written);
        else if (waits[2].revents != 0)
            input->write.close();
    }
    outcome.status = waitFor(*pid);
    return outcome;
}

} // namespace kernelskill::engine
