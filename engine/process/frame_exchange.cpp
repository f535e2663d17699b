#include "engine/process/frame_exchange.h"

#include "engine/process/file_descriptor.h"
#include "engine/process/framing.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

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

Result<std::vector<std::byte>> exchangeFrame(const FramePartner& partner,
                                             std::span<const std::byte> frame,
                                             std::chrono::milliseconds time,
                                             const std::stop_token& stop) {
    const FileDescriptor stopped{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    const std::stop_callback wake{stop, [&] {
                                      const std::uint64_t one = 1;
                                      static_cast<void>(write(stopped.get(), &one, sizeof one));
                                  }};
    Conversation conversation{partner.socket,           stopped.get(),    Clock::now() + time, stop,
                              partner.calledInMessages, partner.messages, partner.onMessage};
    if (auto sent = conversation.send(frame); !sent)
        return std::unexpected(sent.error());
    std::array<std::byte, wire::frameHeaderBytes> header{};
    if (auto received = conversation.receive(header); !received)
        return std::unexpected(received.error());
    const auto length = wire::payloadLength(header);
    if (!length)
        return std::unexpected(noAnswer(partner.calledInMessages));
    std::vector<std::byte> payload(*length);
    if (auto received = conversation.receive(payload); !received)
        return std::unexpected(received.error());
    return payload;
}

} // namespace kernelskill::engine
