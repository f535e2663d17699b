/// An HTTP server on 127.0.0.1 that plays a service: it answers each request with the next answer
/// of a script, byte for byte, and ends with the test.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kernelskill::testing {

/// Bytes of an answer, sent after a pause.
struct Piece {
    std::string bytes;
    std::chrono::milliseconds pause{0};
};
/// The connection is closed after the last piece.
using Answer = std::vector<Piece>;

struct SeenRequest {
    std::string head; ///< Request line and headers.
    std::string body;
    std::chrono::steady_clock::time_point time;
};

class LocalServer {
public:
    explicit LocalServer(std::vector<Answer> script);
    LocalServer(const LocalServer&) = delete;
    LocalServer& operator=(const LocalServer&) = delete;
    ~LocalServer();

    /// "http://127.0.0.1:PORT"
    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::vector<SeenRequest> requests() const;

private:
    void serve(const std::stop_token& stop);
    void answer(int connection, const std::stop_token& stop);

    std::vector<Answer> script_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    mutable std::mutex mutex_;
    std::vector<SeenRequest> requests_;
    std::jthread thread_; ///< Last: it uses the others.
};

/// Status line, headers and body.
[[nodiscard]] std::string http(int status, std::string_view contentType, std::string_view body,
                               std::string_view furtherHeaders = "");
/// A whole reply that says `text`, in a few events, as Anthropic's or OpenAI's service would send
/// it.
[[nodiscard]] std::string anthropicReply(std::string_view text);
[[nodiscard]] std::string openAiReply(std::string_view text);
inline constexpr std::uint64_t repliedInputTokens = 321;
inline constexpr std::uint64_t repliedOutputTokens = 45;

} // namespace kernelskill::testing
