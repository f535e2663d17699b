#include "lsp-server/transport/connection.h"

#include "analysis/source/json.h"
#include "analysis/source/json_reading.h"
#include "lsp-server/transport/message_text.h"

#include <spdlog/logger.h>

#include <chrono>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

json idToJson(const RequestId& id) {
    return std::visit([](const auto& value) { return json(value); }, id);
}

std::optional<RequestId> idOf(const json& id) {
    if (const auto number = analysis::integerIn<std::int64_t>(id))
        return RequestId{*number};
    if (id.is_string())
        return RequestId{id.get<std::string>()};
    return std::nullopt;
}

std::optional<RequestId> idFromJson(const json& message) {
    const auto id = message.find("id");
    return id == message.end() ? std::nullopt : idOf(*id);
}

const json& paramsOf(const json& message) {
    static const json empty = json::object();
    const auto params = message.find("params");
    return params == message.end() || params->is_null() ? empty : *params;
}

} // namespace

/// Requests that have not been answered, with the means to stop them. The thread that takes a
/// request out answers it.
struct Connection::Pending {
    struct Request {
        std::uint64_t serial = 0; ///< A client may use an id again once it has its answer.
        std::stop_source stop;
    };

    [[nodiscard]] std::optional<std::uint64_t> add(const RequestId& id,
                                                   const std::stop_source& stop) {
        const std::scoped_lock lock(mutex);
        const auto [entry, isNew] = requests.try_emplace(id, Request{nextSerial, stop});
        return isNew ? std::optional(nextSerial++) : std::nullopt;
    }

    /// False when the request has been answered already.
    [[nodiscard]] bool take(const RequestId& id, std::uint64_t serial) {
        const std::scoped_lock lock(mutex);
        const auto request = requests.find(id);
        if (request == requests.end() || request->second.serial != serial)
            return false;
        requests.erase(request);
        return true;
    }

    [[nodiscard]] std::optional<std::stop_source> take(const RequestId& id) {
        const std::scoped_lock lock(mutex);
        auto node = requests.extract(id);
        return node ? std::optional(std::move(node.mapped().stop)) : std::nullopt;
    }

    std::mutex mutex;
    std::uint64_t nextSerial = 0;
    std::map<RequestId, Request> requests;
};

Connection::Connection(std::function<void(std::string)> send, spdlog::logger& log)
    : send_(std::move(send)), log_(log), pending_(std::make_shared<Pending>()) {
    onNotification("$/cancelRequest", [this](const json& params) { cancel(params); });
}

Connection::~Connection() = default;

void Connection::onRequest(std::string method, RequestHandler handler) {
    requests_.insert_or_assign(std::move(method), std::move(handler));
}

void Connection::onNotification(std::string method, NotificationHandler handler) {
    notifications_.insert_or_assign(std::move(method), std::move(handler));
}

void Connection::setGates(Gate requests, NotificationGate notifications) {
    requestGate_ = std::move(requests);
    notificationGate_ = std::move(notifications);
}

void Connection::reportBadFrame(const std::string& message) {
    log_.warn("bad message: {}", message);
    send_(encodeMessage(
        responseMessage(nullptr, std::unexpected(ResponseError{ErrorCode::ParseError, message}))));
}

bool Connection::handle(std::string_view body) {
    bool wasRepaired = false;
    auto decoded = decodeMessage(body, &wasRepaired);
    if (!decoded) {
        reportBadFrame(decoded.error().why);
        return decoded.error().isJson;
    }
    if (wasRepaired)
        log_.warn("a message is not UTF-8; the bad bytes were replaced");
    json message = *std::move(decoded);
    const auto invalid = [&](const char* why) {
        const std::optional<RequestId> id =
            message.is_object() ? idFromJson(message) : std::nullopt;
        log_.warn("invalid message: {}", why);
        send_(encodeMessage(
            responseMessage(id ? idToJson(*id) : json(nullptr),
                            std::unexpected(ResponseError{ErrorCode::InvalidRequest, why}))));
    };
    if (!message.is_object()) {
        invalid("a message must be an object; batches are not supported");
        return true;
    }
    const auto method = message.find("method");
    if (method == message.end()) {
        if (message.contains("result") || message.contains("error"))
            handleResponse(message);
        else
            invalid("a message must have a method, a result or an error");
        return true;
    }
    if (!method->is_string()) {
        invalid("'method' must be a string");
        return true;
    }
    if (!paramsOf(message).is_structured()) {
        invalid("'params' must be an object or an array");
        return true;
    }
    const std::string name = method->get<std::string>();
    if (!message.contains("id"))
        handleNotification(message, name);
    else if (idFromJson(message))
        handleRequest(message, name);
    else
        invalid("'id' must be a signed integer of 64 bits or a string");
    return true;
}

void Connection::handleRequest(const json& message, const std::string& method) {
    const RequestId id = *idFromJson(message);
    const std::stop_source stop;
    const std::optional<std::uint64_t> serial = pending_->add(id, stop);
    if (!serial) {
        send_(encodeMessage(responseMessage(
            idToJson(id),
            std::unexpected(ResponseError{ErrorCode::InvalidRequest,
                                          "a request with this id is not answered yet"}))));
        return;
    }
    const auto began = std::chrono::steady_clock::now();
    Reply reply(id, method,
                [send = send_, pending = pending_, serial = *serial, method, began, &log = log_](
                    const RequestId& answered, std::expected<json, ResponseError> outcome) {
                    if (!pending->take(answered, serial))
                        return;
                    const std::chrono::duration<double, std::milli> took =
                        std::chrono::steady_clock::now() - began;
                    if (outcome)
                        log.debug("{} answered in {:.2f} ms", method, took.count());
                    else
                        log.info("{} failed after {:.2f} ms: {}", method, took.count(),
                                 outcome.error().message);
                    send(encodeMessage(responseMessage(idToJson(answered), std::move(outcome))));
                });
    if (requestGate_) {
        if (auto refusal = requestGate_(method))
            return reply.error(std::move(*refusal));
    }
    const auto handler = requests_.find(method);
    if (handler == requests_.end())
        return reply.error(ErrorCode::MethodNotFound, "unknown method '" + method + "'");
    try {
        handler->second(paramsOf(message), reply, stop);
    } catch (const json::exception& problem) {
        reply.error(ErrorCode::InvalidParams, method + ": " + problem.what());
    } catch (const std::exception& problem) {
        reply.error(ErrorCode::InternalError, method + ": " + problem.what());
    }
}

void Connection::handleNotification(const json& message, const std::string& method) {
    if (notificationGate_ && !notificationGate_(method))
        return log_.debug("dropped '{}': not now", method);
    const auto handler = notifications_.find(method);
    if (handler == notifications_.end())
        return log_.debug("ignored unknown notification '{}'", method);
    try {
        handler->second(paramsOf(message));
    } catch (const std::exception& problem) {
        log_.warn("{}: {}", method, problem.what());
    }
}

void Connection::handleResponse(json& message) {
    const auto id = analysis::integerIn<std::int64_t>(message, "id");
    ResponseHandler handler;
    if (id) {
        const std::scoped_lock lock(outgoingMutex_);
        const auto waiting = outgoing_.find(*id);
        if (waiting != outgoing_.end()) {
            handler = std::move(waiting->second);
            outgoing_.erase(waiting);
        }
    }
    if (!handler)
        return log_.debug("ignored a response to no request of ours");
    try {
        if (const auto error = message.find("error"); error != message.end()) {
            const std::string text = error->is_object() ? error->value("message", "") : "";
            handler(std::unexpected(ResponseError{ErrorCode::RequestFailed, text}));
        } else {
            handler(std::move(message["result"]));
        }
    } catch (const std::exception& problem) {
        log_.warn("response: {}", problem.what());
    }
}

void Connection::cancel(const json& params) {
    const std::optional<RequestId> id = idFromJson(params);
    if (!id)
        return;
    auto stop = pending_->take(*id);
    if (!stop)
        return;
    send_(encodeMessage(responseMessage(
        idToJson(*id), std::unexpected(ResponseError{ErrorCode::RequestCancelled, "cancelled"}))));
    stop->request_stop();
}

void Connection::drop(const json& id) {
    const std::optional<RequestId> known = idOf(id);
    if (auto stop = known ? pending_->take(*known) : std::nullopt)
        stop->request_stop();
}

void Connection::cancelAll() {
    std::vector<std::stop_source> sources;
    {
        const std::scoped_lock lock(pending_->mutex);
        for (const auto& [id, request] : pending_->requests)
            sources.push_back(request.stop);
    }
    for (std::stop_source& source : sources)
        source.request_stop();
}

void Connection::notify(std::string_view method, json params) {
    send_(encodeMessage({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}));
}

std::int64_t Connection::request(std::string_view method, json params, ResponseHandler handler) {
    std::int64_t id = 0;
    {
        const std::scoped_lock lock(outgoingMutex_);
        id = nextId_++;
        outgoing_.emplace(id, std::move(handler));
    }
    send_(encodeMessage(
        {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}));
    return id;
}

} // namespace kernelskill::lsp
