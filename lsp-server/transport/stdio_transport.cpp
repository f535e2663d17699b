#include "lsp-server/transport/stdio_transport.h"

#include "lsp-server/transport/line_framing.h"

#include <boost/asio.hpp>

#include <array>
#include <deque>
#include <unistd.h>
#include <utility>
#include <variant>

namespace kernelskill::lsp {

using Decoder = std::variant<FrameDecoder, LineDecoder>;

struct StdioTransport::Impl : std::enable_shared_from_this<Impl> {
    Impl(EventLoop& eventLoop, int in, int out, std::size_t maxBodyBytes, MessageFraming framing)
        : loop(eventLoop), input(eventLoop.context()), output(eventLoop.context()),
          decoder(framing == MessageFraming::Lines ? Decoder(LineDecoder(maxBodyBytes))
                                                   : Decoder(FrameDecoder(maxBodyBytes))) {
        // Duplicates: closing Asio's descriptors must not close the process's own.
        boost::system::error_code ignored;
        input.assign(::dup(in), ignored);
        output.assign(::dup(out), ignored);
    }

    void read() {
        input.async_read_some(
            boost::asio::buffer(chunk),
            [self = shared_from_this()](const boost::system::error_code& error, std::size_t size) {
                if (error)
                    return self->close();
                std::visit([&](auto& each) { each.feed({self->chunk.data(), size}); },
                           self->decoder);
                self->deliver();
                if (!self->isClosed)
                    self->read();
            });
    }

    void deliver() {
        while (!isClosed) {
            auto frame = std::visit([](auto& each) { return each.next(); }, decoder);
            if (!frame)
                return;
            if (!*frame)
                callbacks.error(frame->error());
            else if (!callbacks.message(**frame))
                recoverFrom(**frame);
        }
    }

    void recoverFrom(std::string_view body) {
        if (auto* headers = std::get_if<FrameDecoder>(&decoder))
            headers->recoverFrom(body);
    }

    [[nodiscard]] std::string framed(const std::string& body) const {
        return std::holds_alternative<LineDecoder>(decoder) ? body + "\n" : encodeFrame(body);
    }

    void close() {
        if (!std::exchange(isClosed, true) && callbacks.closed)
            callbacks.closed();
    }

    void push(std::string frame) {
        outgoing.push_back(std::move(frame));
        if (outgoing.size() == 1)
            write();
    }

    void write() {
        boost::asio::async_write(
            output, boost::asio::buffer(outgoing.front()),
            [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                if (error)
                    self->outgoing.clear();
                else
                    self->outgoing.pop_front();
                if (!self->outgoing.empty())
                    return self->write();
                for (Task& task : std::exchange(self->onFlushed, {}))
                    task();
                if (error)
                    self->close();
            });
    }

    EventLoop& loop;
    boost::asio::posix::stream_descriptor input;
    boost::asio::posix::stream_descriptor output;
    Decoder decoder;
    std::array<char, 65536> chunk{};
    Callbacks callbacks;
    std::deque<std::string> outgoing;
    std::vector<Task> onFlushed;
    bool isClosed = false;
};

StdioTransport::StdioTransport(EventLoop& loop, int input, int output, std::size_t maxBodyBytes,
                               MessageFraming framing)
    : impl_(std::make_shared<Impl>(loop, input, output, maxBodyBytes, framing)) {}

StdioTransport::~StdioTransport() {
    impl_->isClosed = true;
}

void StdioTransport::start(Callbacks callbacks) {
    impl_->callbacks = std::move(callbacks);
    impl_->read();
}

void StdioTransport::send(std::string body) {
    impl_->loop.post(
        [impl = impl_, frame = impl_->framed(body)]() mutable { impl->push(std::move(frame)); });
}

void StdioTransport::flush(Task done) {
    impl_->loop.post([impl = impl_, done = std::move(done)]() mutable {
        if (impl->outgoing.empty())
            done();
        else
            impl->onFlushed.push_back(std::move(done));
    });
}

void StdioTransport::closeOutput() {
    flush([impl = impl_] {
        boost::system::error_code ignored;
        impl->output.close(ignored);
    });
}

} // namespace kernelskill::lsp
