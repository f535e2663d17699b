#include "engine/process/framed_child.h"

#include "engine/process/argument_pointers.h"
#include "engine/process/file_descriptor.h"
#include "engine/process/frame_exchange.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine {
namespace {

using Clock = std::chrono::steady_clock;

} // namespace

Result<std::unique_ptr<FramedChild>> FramedChild::start(const FramedChildCommand& command) {
    const auto failure = [&](int error) {
        return std::unexpected(
            Error{ErrorKind::Missing,
                  "cannot start the " + command.calledInMessages + ": " + std::strerror(error),
                  command.program.string(), "reinstall kernelskill"});
    };
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return failure(errno);
    FileDescriptor ours{ends[0]};
    const FileDescriptor theirs{ends[1]};

    FileDescriptor readEnd;
    FileDescriptor writeEnd;
    if (command.keepsMessages) {
        if (pipe2(ends.data(), O_CLOEXEC) != 0)
            return failure(errno);
        readEnd = FileDescriptor{ends[0]};
        writeEnd = FileDescriptor{ends[1]};
    }

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
    if (writeEnd.isOpen())
        posix_spawn_file_actions_adddup2(&actions, writeEnd.get(), STDERR_FILENO);
    posix_spawn_file_actions_addchdir_np(&actions, "/");
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // In its own process group, so that Ctrl-C in a terminal reaches only us.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    std::vector<std::string> words{command.program.string()};
    words.insert(words.end(), command.arguments.begin(), command.arguments.end());
    auto variables = command.environment;
    pid_t process = -1;
    const int error =
        posix_spawn(&process, words.front().c_str(), &actions, &attributes,
                    argumentPointers(words).data(), argumentPointers(variables).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return failure(error);
    auto messages = readEnd.isOpen() ? ChildMessages(std::move(readEnd)) : ChildMessages();
    return std::unique_ptr<FramedChild>(
        new FramedChild(process, ours.release(), std::move(messages), command));
}

namespace {

void reap(pid_t process) {
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
}

} // namespace

FramedChild::~FramedChild() {
    close(socket_);
    // Repeated, because it may have been about to wait when the first signal came.
    constexpr std::chrono::milliseconds between{200};
    for (auto left = command_.farewell; !hasEnded_ && left.count() > 0; left -= between) {
        kill(process_, SIGTERM);
        awaitEnd(std::min(left, between));
    }
    if (hasEnded_)
        return;
    kill(process_, SIGKILL);
    constexpr std::chrono::milliseconds patience{10};
    if (!awaitEnd(patience))
        std::thread(reap, process_).detach();
}

bool FramedChild::awaitEnd(std::chrono::milliseconds time) {
    constexpr std::chrono::milliseconds look{5};
    const auto end = Clock::now() + time;
    while (!hasEnded_) {
        const pid_t found = waitpid(process_, nullptr, WNOHANG);
        hasEnded_ = found == process_ || (found < 0 && errno == ECHILD);
        if (hasEnded_ || Clock::now() >= end)
            break;
        std::this_thread::sleep_for(look);
    }
    return hasEnded_;
}

bool FramedChild::finish(std::chrono::milliseconds time) {
    shutdown(socket_, SHUT_WR);
    return awaitEnd(time);
}

bool FramedChild::isAlive() const {
    pollfd state{socket_, POLLIN, 0};
    // An idle child writes nothing: if there is something to read, the stream has ended.
    return poll(&state, 1, 0) == 0;
}

Result<std::vector<std::byte>> FramedChild::exchange(std::span<const std::byte> frame,
                                                     std::chrono::milliseconds time,
                                                     std::stop_token stop,
                                                     const LineSink& onMessage) {
    auto answer = exchangeFrame({socket_, command_.calledInMessages, messages_, onMessage}, frame,
                                time, stop);
    if (!answer && answer.error().kind != ErrorKind::Cancelled && command_.keepsMessages) {
        // Its last messages follow the end of its answers.
        awaitEnd(command_.farewell);
        messages_.take(onMessage);
    }
    return answer;
}

} // namespace kernelskill::engine
