/// Messages over two file descriptors, as a client that started us expects them.
#pragma once

#include "lsp-server/transport/event_loop.h"
#include "lsp-server/transport/framing.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

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
    StdioTransport(EventLoop& loop, int input, int output, std::size_t maxBodyBytes);
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
