#include "engine/execution/framed_child.h"

#include "engine/execution/framing.h"
#include "engine/file_descriptor.h"

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

namespace kernelskill::engine {
namespace {

using Clock = std::chrono::steady_clock;

Error noAnswer(const std::string& partner) {
    return {ErrorKind::Failed, "the " + partner + " ended without an answer", {}, {}};
}

/// For posix_spawn: the strings stay the caller's.
std::vector<char*> pointersTo(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (auto& text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// One exchange of bytes with a worker, which ends early when it is stopped or out of time.
class Conversation {
public:
    Conversation(int socket, int stopped, Clock::time_point end, const std::stop_token& stop,
                 const std::string& partner)
        : socket_(socket), stopped_(stopped), end_(end), stop_(stop), partner_(partner) {}

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
            std::array<pollfd, 2> waiting{pollfd{socket_, events, 0}, pollfd{stopped_, POLLIN, 0}};
            const int count = poll(waiting.data(), waiting.size(), static_cast<int>(left.count()));
            if (count < 0 && errno != EINTR)
                return std::unexpected(noAnswer(partner_));
            if (count > 0 && waiting[0].revents != 0)
                return {};
        }
    }

    int socket_;
    int stopped_;
    Clock::time_point end_;
    const std::stop_token& stop_;
    const std::string& partner_;
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
    std::vector<std::string> words{command.program.string()};
    words.insert(words.end(), command.arguments.begin(), command.arguments.end());
    auto variables = command.environment;
    pid_t process = -1;
    const int error = posix_spawn(&process, words.front().c_str(), &actions, &attributes,
                                  pointersTo(words).data(), pointersTo(variables).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return failure(error);
    return std::unique_ptr<FramedChild>(
        new FramedChild(process, ours.release(), command.calledInMessages));
}

FramedChild::~FramedChild() {
    close(socket_);
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

bool FramedChild::isAlive() const {
    pollfd state{socket_, POLLIN, 0};
    // An idle child says nothing: anything to read is the end of the stream.
    return poll(&state, 1, 0) == 0;
}

Result<std::vector<std::byte>> FramedChild::exchange(std::span<const std::byte> frame,
                                                     std::chrono::milliseconds time,
                                                     std::stop_token stop) {
    const FileDescriptor stopped{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    const std::stop_callback wake{stop, [&] {
                                      const std::uint64_t one = 1;
                                      static_cast<void>(write(stopped.get(), &one, sizeof one));
                                  }};
    Conversation conversation{socket_, stopped.get(), Clock::now() + time, stop, calledInMessages_};
    if (auto sent = conversation.send(frame); !sent)
        return std::unexpected(sent.error());
    std::array<std::byte, wire::frameHeaderBytes> header{};
    if (auto received = conversation.receive(header); !received)
        return std::unexpected(received.error());
    const auto length = wire::payloadLength(header);
    if (!length)
        return std::unexpected(noAnswer(calledInMessages_));
    std::vector<std::byte> payload(*length);
    if (auto received = conversation.receive(payload); !received)
        return std::unexpected(received.error());
    return payload;
}

} // namespace kernelskill::engine
