#include "engine/execution/emulator/worker_process.h"

#include "engine/file_descriptor.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine::emulator {

namespace {

using Clock = std::chrono::steady_clock;

/// Beyond the job's own limit, which the worker enforces and can explain better than we can.
constexpr std::chrono::milliseconds grace{3000};
constexpr std::size_t mostIdle = 8;

Error cancelled() {
    return {ErrorKind::Cancelled, "the run was cancelled", "", ""};
}

Error noAnswer() {
    return {ErrorKind::Failed, "the emulator worker ended without an answer", "", ""};
}

/// One exchange of bytes with a worker, which ends early when it is stopped or out of time.
class Conversation {
public:
    Conversation(int socket, int stopped, Clock::time_point end, const std::stop_token& stop)
        : socket_(socket), stopped_(stopped), end_(end), stop_(stop) {}

    Result<void> send(std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            if (auto ready = wait(POLLOUT); !ready)
                return ready;
            const ssize_t count =
                ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (count < 0 && errno != EAGAIN && errno != EINTR)
                return std::unexpected(noAnswer());
            if (count > 0)
                bytes = bytes.subspan(static_cast<std::size_t>(count));
        }
        return {};
    }

    Result<void> receive(std::span<std::byte> bytes) {
        while (!bytes.empty()) {
            if (auto ready = wait(POLLIN); !ready)
                return ready;
            const ssize_t count = recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
            if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
                return std::unexpected(noAnswer());
            if (count > 0)
                bytes = bytes.subspan(static_cast<std::size_t>(count));
        }
        return {};
    }

private:
    Result<void> wait(short events) {
        while (true) {
            if (stop_.stop_requested())
                return std::unexpected(cancelled());
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
            if (left.count() <= 0) {
                return std::unexpected(Error{ErrorKind::Failed,
                                             "the emulator worker does not answer in time", "",
                                             "launch a smaller problem"});
            }
            std::array<pollfd, 2> waiting{pollfd{socket_, events, 0}, pollfd{stopped_, POLLIN, 0}};
            const int count = poll(waiting.data(), waiting.size(), static_cast<int>(left.count()));
            if (count < 0 && errno != EINTR)
                return std::unexpected(noAnswer());
            if (count > 0 && waiting[0].revents != 0)
                return {};
        }
    }

    int socket_;
    int stopped_;
    Clock::time_point end_;
    const std::stop_token& stop_;
};

} // namespace

Result<std::unique_ptr<WorkerProcess>>
WorkerProcess::start(const std::filesystem::path& executable) {
    const auto failure = [&](int error) {
        return std::unexpected(
            Error{ErrorKind::Missing,
                  fmt::format("cannot start the emulator worker: {}", strerror(error)),
                  executable.string(), "reinstall kernelskill"});
    };
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return failure(errno);
    FileDescriptor ours{ends[0]};
    const FileDescriptor theirs{ends[1]};

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
    posix_spawn_file_actions_addchdir_np(&actions, "/");
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // A group of its own: an interrupt typed at the terminal is ours to handle.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    std::string program = executable.string();
    std::string command = "emulator-worker";
    std::array<char*, 3> arguments{program.data(), command.data(), nullptr};
    std::array<char*, 1> environment{nullptr};
    pid_t process = -1;
    const int error = posix_spawn(&process, program.c_str(), &actions, &attributes,
                                  arguments.data(), environment.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return failure(error);
    return std::unique_ptr<WorkerProcess>(new WorkerProcess(process, ours.release()));
}

WorkerProcess::~WorkerProcess() {
    close(socket_);
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

bool WorkerProcess::isAlive() const {
    pollfd state{socket_, POLLIN, 0};
    // An idle worker says nothing: anything to read is the end of the stream.
    return poll(&state, 1, 0) == 0;
}

Result<WorkerReport> WorkerProcess::run(const WorkerJob& job, std::chrono::milliseconds time,
                                        std::stop_token stop) {
    const FileDescriptor stopped{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    const std::stop_callback wake{stop, [&] {
                                      const std::uint64_t one = 1;
                                      static_cast<void>(write(stopped.get(), &one, sizeof one));
                                  }};
    Conversation conversation{socket_, stopped.get(), Clock::now() + time, stop};
    if (auto sent = conversation.send(encode(job)); !sent)
        return std::unexpected(sent.error());
    std::array<std::byte, frameHeaderBytes> header{};
    if (auto received = conversation.receive(header); !received)
        return std::unexpected(received.error());
    const auto length = payloadLength(header);
    if (!length)
        return std::unexpected(noAnswer());
    std::vector<std::byte> payload(*length);
    if (auto received = conversation.receive(payload); !received)
        return std::unexpected(received.error());
    return decodeReport(payload);
}

Result<std::unique_ptr<WorkerProcess>> WorkerPool::take() {
    {
        const std::scoped_lock lock{mutex_};
        while (!idle_.empty()) {
            std::unique_ptr<WorkerProcess> worker = std::move(idle_.back());
            idle_.pop_back();
            if (worker->isAlive())
                return worker;
        }
    }
    return WorkerProcess::start(executable_);
}

Result<WorkerReport> WorkerPool::run(const WorkerJob& job, std::stop_token stop) {
    auto worker = take();
    if (!worker)
        return std::unexpected(worker.error());
    auto report = (*worker)->run(job, job.job.limits.time + grace, std::move(stop));
    if (report) {
        const std::scoped_lock lock{mutex_};
        if (idle_.size() < mostIdle)
            idle_.push_back(std::move(*worker));
    }
    return report;
}

} // namespace kernelskill::engine::emulator
