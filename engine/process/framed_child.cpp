#include "engine/process/framed_child.h"

#include "engine/process/argument_pointers.h"
#include "engine/process/file_descriptor.h"
#include "engine/process/framing.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine {
namespace {

using Clock = std::chrono::steady_clock;

Error noAnswer(const std::string& partner) {
    return {ErrorKind::Failed, "the " + partner + " ended without an answer", {}, {}};
}

/// One exchange of bytes with a worker. It ends early on a stop request or a time-out.
class Conversation {
public:
    Conversation(int socket, int stopped, Clock::time_point end, const std::stop_token& stop,
                 const std::string& partner, ChildMessages& messages, const LineSink& onMessage)
        : socket_(socket), stopped_(stopped), end_(end), stop_(stop), partner_(partner),
          messages_(messages), onMessage_(onMessage) {}

    Result<void> send(std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            if (auto ready = wait(POLLOUT); !ready)
                return ready;
            const ssize_t count =
                ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (count < 0 && errno != EAGAIN && errno != EINTR)
                return std::unexpected(noAnswer(partner_));
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
                return std::unexpected(noAnswer(partner_));
            if (count > 0)
                bytes = bytes.subspan(static_cast<std::size_t>(count));
        }
        return {};
    }

private:
    Result<void> wait(short events) {
        while (true) {
            if (stop_.stop_requested())
                return std::unexpected(
                    Error{ErrorKind::Cancelled, "the run was cancelled", {}, {}});
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
            if (left.count() <= 0) {
                return std::unexpected(Error{ErrorKind::Failed,
                                             "the " + partner_ + " does not answer in time",
                                             {},
                                             "launch a smaller problem"});
            }
            std::array<pollfd, 3> waiting{pollfd{socket_, events, 0}, pollfd{stopped_, POLLIN, 0},
                                          pollfd{messages_.descriptor(), POLLIN, 0}};
            constexpr auto most = std::numeric_limits<int>::max();
            const int count = poll(waiting.data(), waiting.size(),
                                   static_cast<int>(std::min<std::int64_t>(left.count(), most)));
            if (count < 0 && errno != EINTR)
                return std::unexpected(noAnswer(partner_));
            if (count > 0 && waiting[2].revents != 0)
                messages_.take(onMessage_);
            if (count > 0 && waiting[0].revents != 0)
                return {};
        }
    }

    int socket_;
    int stopped_;
    Clock::time_point end_;
    const std::stop_token& stop_;
    const std::string& partner_;
    ChildMessages& messages_;
    const LineSink& onMessage_;
};

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
    const FileDescriptor stopped{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    const std::stop_callback wake{stop, [&] {
                                      const std::uint64_t one = 1;
                                      static_cast<void>(write(stopped.get(), &one, sizeof one));
                                  }};
    const std::string& partner = command_.calledInMessages;
    Conversation conversation{socket_,   stopped.get(), Clock::now() + time, stop, partner,
                              messages_, onMessage};
    const auto talk = [&]() -> Result<std::vector<std::byte>> {
        if (auto sent = conversation.send(frame); !sent)
            return std::unexpected(sent.error());
        std::array<std::byte, wire::frameHeaderBytes> header{};
        if (auto received = conversation.receive(header); !received)
            return std::unexpected(received.error());
        const auto length = wire::payloadLength(header);
        if (!length)
            return std::unexpected(noAnswer(partner));
        std::vector<std::byte> payload(*length);
        if (auto received = conversation.receive(payload); !received)
            return std::unexpected(received.error());
        return payload;
    };
    auto answer = talk();
    if (!answer && answer.error().kind != ErrorKind::Cancelled && command_.keepsMessages) {
        // Its last messages follow the end of its answers.
        awaitEnd(command_.farewell);
        messages_.take(onMessage);
    }
    return answer;
}

} // namespace kernelskill::engine
