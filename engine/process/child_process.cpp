#include "engine/process/child_process.h"

#include "engine/process/argument_pointers.h"
#include "engine/process/file_descriptor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <span>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine {
namespace {

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

/// PATH without folders relative to the current one, which may be a workspace.
std::string safePath(std::string_view path) {
    std::string result;
    while (!path.empty()) {
        const auto end = std::min(path.find(':'), path.size());
        if (path.starts_with('/'))
            result.append(result.empty() ? "" : ":").append(path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return result;
}

std::vector<std::string> cleanEnvironment(const std::filesystem::path& temporaryFolder) {
    std::vector<std::string> result{"LANG=C", "LC_ALL=C"};
    for (const char* name : {"PATH", "TMPDIR"}) {
        const bool isGiven = std::string_view(name) == "TMPDIR" && !temporaryFolder.empty();
        if (const char* value = isGiven ? temporaryFolder.c_str() : std::getenv(name))
            result.push_back(std::string(name) + "=" +
                             (std::string_view(name) == "PATH" ? safePath(value) : value));
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

Error notStarted(const ChildCommand& command, int error) {
    return {ErrorKind::Missing,
            std::string("cannot start it: ") + std::strerror(error),
            command.program.string(),
            {}};
}

/// What the child of a fork needs to become another program by system calls alone.
struct Start {
    const char* program;
    char* const* arguments;
    char* const* environment;
    std::array<int, 3> streams; ///< Standard input, output and error.
    int failures;               ///< Gets the error's number if there is no other program.
    const char* folder;         ///< Null: ours.
};

[[noreturn]] void become(const Start& start, const PreparedWalls& walls) {
    const auto fail = [&] {
        const int error = errno != 0 ? errno : EPERM;
        static_cast<void>(::write(start.failures, &error, sizeof error));
        ::_exit(127);
    };
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::setpgid(0, 0);
    for (int stream = 0; stream < 3; ++stream) {
        if (::dup2(start.streams[static_cast<std::size_t>(stream)], stream) < 0)
            fail();
    }
    if (start.folder != nullptr && ::chdir(start.folder) != 0)
        fail();
    if (!walls.putUp())
        fail();
    ::execve(start.program, start.arguments, start.environment);
    fail();
    ::_exit(127);
}

/// Like spawn(), behind walls. They have to be put up between fork and exec, where posix_spawn lets
/// nobody in.
Result<pid_t> spawnBehindWalls(const ChildCommand& command, std::vector<std::string>& arguments,
                               std::vector<std::string>& environment,
                               const std::array<int, 3>& streams) {
    auto failures = makePipe();
    if (!failures)
        return std::unexpected(failures.error());
    const PreparedWalls walls(*command.walls);
    const auto words = argumentPointers(arguments);
    const auto variables = argumentPointers(environment);
    const Start start{
        command.program.c_str(), words.data(),
        variables.data(),        streams,
        failures->write.get(),   command.folder.empty() ? nullptr : command.folder.c_str()};
    // fork() would ask libraries first, and two threads in Z3's handler wait for each other for
    // ever.
    const pid_t pid = ::_Fork();
    if (pid == 0)
        become(start, walls);
    if (pid < 0)
        return std::unexpected(notStarted(command, errno));
    ::setpgid(pid, pid); // Whoever comes first: it may have to be killed at once.
    failures->write.close();
    int error = 0;
    ssize_t count = 0;
    do
        count = ::read(failures->read.get(), &error, sizeof error);
    while (count < 0 && errno == EINTR);
    if (count != sizeof error)
        return pid;
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return std::unexpected(notStarted(command, error));
}

Result<pid_t> spawn(const ChildCommand& command, int input, int output, int messages) {
    std::vector<std::string> arguments{command.program.string()};
    arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
    auto environment = command.environment.value_or(cleanEnvironment(command.temporaryFolder));
    if (command.walls) {
        environment.emplace_back("CCACHE_DISABLE=1"); // Its files are beyond the walls.
        return spawnBehindWalls(command, arguments, environment, {input, output, messages});
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    if (!command.folder.empty())
        posix_spawn_file_actions_addchdir_np(&actions, command.folder.c_str());
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
        return std::unexpected(notStarted(command, error));
    return pid;
}

int waitFor(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Reads the available bytes; closes the descriptor at its end. Returns them, in `buffer`.
std::string_view drain(FileDescriptor& from, std::string& into, std::span<char> buffer) {
    const auto count = ::read(from.get(), buffer.data(), buffer.size());
    const std::string_view text(buffer.data(),
                                static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count > 0 && into.size() < maxOutputBytes)
        into.append(text);
    else if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
        from.close();
    return text;
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
        std::array<char, 65536> buffer; // NOLINT(*-member-init): read() fills it.
        const auto take = [&](FileDescriptor& from, std::string& into, int stream) {
            const auto text = drain(from, into, buffer);
            if (command.onOutput && !text.empty())
                command.onOutput(stream, text);
        };
        if (waits[0].revents != 0)
            take(output->read, outcome.output, STDOUT_FILENO);
        if (waits[1].revents != 0)
            take(messages->read, outcome.messages, STDERR_FILENO);
        if ((waits[2].revents & POLLOUT) != 0)
            feed(input->write, command.input, written);
        else if (waits[2].revents != 0)
            input->write.close();
    }
    outcome.status = waitFor(*pid);
    return outcome;
}

} // namespace kernelskill::engine
