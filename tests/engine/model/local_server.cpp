#include "tests/engine/model/local_server.h"

#include "analysis/source/json.h"

#include <algorithm>
#include <arpa/inet.h>
#include <condition_variable>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace kernelskill::testing {
namespace {

constexpr std::chrono::milliseconds pollInterval{20};
constexpr std::size_t maxRequestBytes = 4u << 20;

bool isReadable(int descriptor) {
    pollfd wait{descriptor, POLLIN, 0};
    return ::poll(&wait, 1, static_cast<int>(pollInterval.count())) > 0;
}

bool sendAll(int connection, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::size_t bodyLength(std::string head) {
    std::ranges::transform(head, head.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto at = head.find("content-length:");
    return at == std::string::npos ? 0 : std::stoul(head.substr(at + 15));
}

/// Reads one request from the connection; empty if the client is gone.
SeenRequest receive(int connection, const std::stop_token& stop) {
    std::string bytes;
    while (!stop.stop_requested() && bytes.size() < maxRequestBytes) {
        const auto end = bytes.find("\r\n\r\n");
        if (end != std::string::npos && bytes.size() >= end + 4 + bodyLength(bytes.substr(0, end)))
            return {bytes.substr(0, end), bytes.substr(end + 4), std::chrono::steady_clock::now()};
        if (!isReadable(connection))
            continue;
        std::array<char, 65536> buffer{};
        const auto count = ::recv(connection, buffer.data(), buffer.size(), 0);
        if (count <= 0)
            break;
        bytes.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return {};
}

std::string event(const char* type, const nlohmann::json& data) {
    const std::string name = *type == '\0' ? "" : std::string("event: ") + type + "\n";
    return name + "data: " + data.dump() + "\n\n";
}

/// `text` in three parts.
std::vector<std::string> parts(std::string_view text) {
    const std::size_t third = text.size() / 3;
    return {std::string(text.substr(0, third)), std::string(text.substr(third, third)),
            std::string(text.substr(2 * third))};
}

} // namespace

LocalServer::LocalServer(std::vector<Answer> script) : script_(std::move(script)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (listener_ < 0 ||
        ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        ::listen(listener_, 8) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0)
        throw std::runtime_error("no local server");
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

LocalServer::~LocalServer() {
    thread_.request_stop();
    thread_.join();
    ::close(listener_);
}

std::string LocalServer::url() const {
    return "http://127.0.0.1:" + std::to_string(port_);
}

std::vector<SeenRequest> LocalServer::requests() const {
    const std::scoped_lock lock(mutex_);
    return requests_;
}

void LocalServer::serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        if (!isReadable(listener_))
            continue;
        const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0)
            continue;
        answer(connection, stop);
        ::shutdown(connection, SHUT_WR);
        ::close(connection);
    }
}

void LocalServer::answer(int connection, const std::stop_token& stop) {
    SeenRequest request = receive(connection, stop);
    if (request.head.empty())
        return;
    std::size_t number = 0;
    {
        const std::scoped_lock lock(mutex_);
        number = requests_.size();
        requests_.push_back(std::move(request));
    }
    const Answer unexpected{{http(404, "text/plain", "the script is over")}};
    for (const Piece& piece : number < script_.size() ? script_[number] : unexpected) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any wake;
        wake.wait_for(lock, stop, piece.pause, [] { return false; });
        if (stop.stop_requested() || !sendAll(connection, piece.bytes))
            return;
    }
}

std::string http(int status, std::string_view contentType, std::string_view body,
                 std::string_view furtherHeaders) {
    return "HTTP/1.1 " + std::to_string(status) +
           " Status\r\nContent-Type: " + std::string(contentType) + "\r\n" +
           std::string(furtherHeaders) + "Connection: close\r\n\r\n" + std::string(body);
}

std::string anthropicReply(std::string_view text) {
    std::string events =
        event("message_start",
              {{"type", "message_start"},
               {"message",
                {{"model", "played-model"},
                 {"usage", {{"input_tokens", repliedInputTokens}, {"output_tokens", 1}}}}}});
    events += event("ping", {{"type", "ping"}});
    for (const std::string& part : parts(text))
        events +=
            event("content_block_delta", {{"type", "content_block_delta"},
                                          {"index", 0},
                                          {"delta", {{"type", "text_delta"}, {"text", part}}}});
    events += event("message_delta", {{"type", "message_delta"},
                                      {"delta", {{"stop_reason", "end_turn"}}},
                                      {"usage", {{"output_tokens", repliedOutputTokens}}}});
    events += event("message_stop", {{"type", "message_stop"}});
    return http(200, "text/event-stream; charset=utf-8", events);
}

std::string openAiReply(std::string_view text) {
    const auto chunk = [](nlohmann::json choice) {
        return event("", {{"model", "played-model"},
                          {"choices", nlohmann::json::array({std::move(choice)})}});
    };
    std::string events;
    for (const std::string& part : parts(text))
        events += chunk({{"index", 0}, {"delta", {{"content", part}}}, {"finish_reason", nullptr}});
    events += chunk({{"index", 0}, {"delta", nlohmann::json::object()}, {"finish_reason", "stop"}});
    events += event("", {{"model", "played-model"},
                         {"choices", nlohmann::json::array()},
                         {"usage",
                          {{"prompt_tokens", repliedInputTokens},
                           {"completion_tokens", repliedOutputTokens}}}});
    events += "data: [DONE]\n\n";
    return http(200, "text/event-stream", events);
}

} // namespace kernelskill::testing
