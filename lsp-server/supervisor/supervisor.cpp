#include "lsp-server/supervisor/supervisor.h"

#include "lsp-server/supervisor/server_process.h"
#include "lsp-server/supervisor/session_record.h"
#include "lsp-server/transport/message_text.h"
#include "lsp-server/transport/stdio_transport.h"

#include <spdlog/logger.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

using Clock = std::chrono::steady_clock;

/// Bounds how often a server is started again.
class CrashBudget {
public:
    /// Counts a crash. False: there were too many of late.
    bool take(Clock::time_point now) {
        crashes_.push_back(now);
        while (now - crashes_.front() > window)
            crashes_.pop_front();
        return crashes_.size() <= maxCrashes;
    }

private:
    static constexpr std::size_t maxCrashes = 5;
    static constexpr auto window = std::chrono::minutes(3);
    std::deque<Clock::time_point> crashes_;
};

class Supervisor {
public:
    Supervisor(const ServerSettings& settings, spdlog::logger& log)
        : settings_(settings), log_(log),
          loop_([this](const std::exception& problem) { log_.error("{}", problem.what()); }),
          client_(loop_, settings.input, settings.output, settings.maxMessageBytes) {}

    int run() {
        if (!startServer())
            return 1;
        client_.start({[this](std::string_view body) { return takeFromClient(body); },
                       [this](const FrameError& error) { refuse(error.message); },
                       [this] { clientHasGone(); }});
        loop_.run();
        return status_;
    }

private:
    bool startServer() {
        auto started = ServerProcess::start([this] {
            ServerSettings own = settings_;
            own.input = 0;
            own.output = 1;
            return runLanguageServer(own, log_);
        });
        if (!started) {
            log_.error("{}", started.error().describe());
            return false;
        }
        process_.emplace(*std::move(started));
        server_ = std::make_unique<StdioTransport>(loop_, process_->output(), process_->input(),
                                                   settings_.maxMessageBytes);
        // The transport has a duplicate.
        process_->closeInput();
        server_->start(
            {[this](std::string_view body) { return takeFromServer(body); },
             [this](const FrameError& error) { log_.error("server: {}", error.message); },
             [this] { serverHasEnded(); }});
        return true;
    }

    /// False if the body is no JSON.
    bool takeFromClient(std::string_view body) {
        const auto message = decodeMessage(body);
        if (!message) {
            refuse(message.error().why);
            return message.error().isJson;
        }
        send(record_.fromClient(*message, body));
        return true;
    }

    bool takeFromServer(std::string_view body) {
        if (const auto message = decodeMessage(body))
            send(record_.fromServer(*message, body));
        return true;
    }

    void refuse(const std::string& why) {
        log_.warn("bad message: {}", why);
        client_.send(encodeMessage(
            responseMessage(nullptr, std::unexpected(ResponseError{ErrorCode::ParseError, why}))));
    }

    void send(Outbox out) {
        for (std::string& body : out.toServer)
            if (server_)
                server_->send(std::move(body));
        for (std::string& body : out.toClient)
            client_.send(std::move(body));
    }

    /// The server ends by itself when its input does.
    void clientHasGone() {
        isClientGone_ = true;
        if (server_)
            server_->closeOutput();
    }

    void serverHasEnded() {
        // This is called by the transport that goes away here.
        loop_.post([this, gone = std::shared_ptr<StdioTransport>(std::move(server_))]() mutable {
            gone.reset();
            const ServerProcess::End end = process_->wait();
            process_.reset();
            // It ends by itself when it was told to, and when the editor is gone.
            if (end.how.empty() || record_.isEnding() || isClientGone_)
                return finish(end.status);
            log_.error("the server has ended: {}", end.how);
            Outbox out = record_.afterCrash(end.how);
            if (!budget_.take(Clock::now())) {
                log_.error("too many crashes: giving up");
                out.toServer.clear();
                send(std::move(out));
                return finish(1);
            }
            if (!startServer())
                return finish(1);
            send(std::move(out));
        });
    }

    void finish(int status) {
        status_ = status;
        client_.flush([this] { loop_.stop(); });
    }

    const ServerSettings& settings_;
    spdlog::logger& log_;
    EventLoop loop_;
    StdioTransport client_;
    std::optional<ServerProcess> process_;
    std::unique_ptr<StdioTransport> server_;
    SessionRecord record_;
    CrashBudget budget_;
    bool isClientGone_ = false;
    int status_ = 1;
};

} // namespace

int superviseLanguageServer(const ServerSettings& settings, spdlog::logger& log) {
    return Supervisor(settings, log).run();
}

} // namespace kernelskill::lsp
