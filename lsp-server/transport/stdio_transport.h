/// Messages over two file descriptors, as a client that started us expects them.
#pragma once

#include "lsp-server/transport/event_loop.h"
#include "lsp-server/transport/framing.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

/// The mark at which a message ends and the next one begins.
enum class MessageFraming : std::uint8_t {
    Headers, ///< `Content-Length`, see FrameDecoder.
    Lines    ///< One message a line, see LineDecoder.
};

class StdioTransport {
public:
    struct Callbacks {
        /// False when the body was not JSON at all: the decoder then looks for a header inside it.
        std::function<bool(std::string_view body)> message;
        std::function<void(const FrameError&)> error;
        /// Once: input ended or the client stopped reading.
        std::function<void()> closed;
    };

    /// Neither descriptor is closed. Callbacks come on the loop's thread.
    StdioTransport(EventLoop& loop, int input, int output, std::size_t maxBodyBytes,
                   MessageFraming framing = MessageFraming::Headers);
    ~StdioTransport();

    void start(Callbacks callbacks);
    /// Any thread. Messages leave in the order of the calls.
    void send(std::string body);
    /// Calls `done` on the loop's thread when everything sent before has been written (or cannot
    /// be).
    void flush(Task done);
    /// Any thread. Closes the output once everything sent before has been written.
    void closeOutput();

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace kernelskill::lsp
