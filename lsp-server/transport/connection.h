/// Both directions of a JSON-RPC conversation: routes what comes in, numbers what goes out.
#pragma once

#include "lsp-server/transport/json_rpc.h"

#include <spdlog/fwd.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kernelskill::lsp {

/// Everything but notify() and request() belongs to the loop's thread. Must outlive no Reply:
/// replies hold what they need.
class Connection {
public:
    /// Params that do not fit are reported by throwing nlohmann::json::exception, which becomes
    /// InvalidParams as long as the reply has not been moved away: read the params first. `stop` is
    /// asked to stop by $/cancelRequest, which also answers RequestCancelled at once; what the
    /// handler replies afterwards is dropped.
    using RequestHandler =
        std::function<void(const nlohmann::json& params, Reply& reply, std::stop_source stop)>;
    using NotificationHandler = std::function<void(const nlohmann::json& params)>;
    using ResponseHandler =
        std::move_only_function<void(std::expected<nlohmann::json, ResponseError>)>;
    /// Says why a request may not run now (not initialised, shut down); nullopt lets it run.
    using Gate = std::function<std::optional<ResponseError>(std::string_view method)>;
    /// Whether a notification may run now.
    using NotificationGate = std::function<bool(std::string_view method)>;

    /// `send` takes an encoded message and may be called from any thread.
    Connection(std::function<void(std::string)> send, spdlog::logger& log);
    ~Connection();

    void onRequest(std::string method, RequestHandler handler);
    void onNotification(std::string method, NotificationHandler handler);
    void setGates(Gate requests, NotificationGate notifications);

    /// Routes one message body. False when it is not JSON (an error has been sent).
    bool handle(std::string_view body);
    /// Answers bytes that were not even a message.
    void reportBadFrame(const std::string& message);

    /// Any thread.
    void notify(std::string_view method, nlohmann::json params);
    /// Any thread; the handler comes on the loop's thread, or never if the client does not answer.
    /// Returns the request's id, to cancel it by.
    std::int64_t request(std::string_view method, nlohmann::json params, ResponseHandler handler);

    /// Asks the request of that id to stop; it is not answered. Without effect if there is none.
    void drop(const nlohmann::json& id);
    /// Asks every request under way to stop.
    void cancelAll();

private:
    struct Pending;
    void handleRequest(const nlohmann::json& message, const std::string& method);
    void handleNotification(const nlohmann::json& message, const std::string& method);
    void handleResponse(nlohmann::json& message);
    void cancel(const nlohmann::json& params);

    std::function<void(std::string)> send_;
    spdlog::logger& log_;
    std::unordered_map<std::string, RequestHandler> requests_;
    std::unordered_map<std::string, NotificationHandler> notifications_;
    Gate requestGate_;
    NotificationGate notificationGate_;
    std::shared_ptr<Pending> pending_; ///< Shared with the replies.
    std::mutex outgoingMutex_;
    std::int64_t nextId_ = 1;
    std::map<std::int64_t, ResponseHandler> outgoing_;
};

} // namespace kernelskill::lsp
