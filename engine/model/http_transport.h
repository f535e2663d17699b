/// Requests over HTTP, by libcurl, which is loaded for the first of them.
#pragma once

#include "analysis/source/error.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct HttpRequest {
    std::string url;
    std::vector<std::string> headers; ///< "name: value"
    std::string body;
};

struct HttpLimits {
    std::chrono::milliseconds connect{10'000};
    std::chrono::milliseconds silence{120'000}; ///< Without a byte from the other side.
    std::chrono::milliseconds total{600'000};
    std::size_t bytes = 16u << 20; ///< Of the answer's body.
};

struct HttpHead {
    int status = 0;
    std::string contentType; ///< Without its parameters, in lower case.
    std::string retryAfter;  ///< As the header has it; empty without one.
};

struct HttpFailure {
    Error error;
    bool isTransient = false; ///< Worth another try: no connection, or it broke.
};

/// Gets the body as it comes; false: enough, which is no error.
using HttpBodySink = std::function<bool(const HttpHead&, std::string_view)>;

/// Posts and waits for the whole answer. Any status is an answer; redirects are not followed, so
/// that what is in the headers stays with the host it was meant for. Certificates are checked, and
/// a proxy is used as curl's variables say, but never to reach this machine itself. Cancelled, at
/// once, when `stop` asks. Thread-safe.
[[nodiscard]] std::expected<HttpHead, HttpFailure> post(const HttpRequest& request,
                                                        const HttpLimits& limits,
                                                        std::stop_token stop,
                                                        const HttpBodySink& onBody);

/// Whether a connection (with its TLS handshake) can be made; asks nothing of the server.
[[nodiscard]] std::expected<void, HttpFailure>
reach(const std::string& url, std::chrono::milliseconds time, std::stop_token stop);

/// 408, 429 and what a server answers when it is the trouble: 500, 502, 503, 504, 529.
[[nodiscard]] bool isTransientStatus(int status);

struct UrlParts {
    std::string scheme; ///< "http" or "https"
    std::string host;
    bool isThisMachine = false; ///< localhost, 127.0.0.0/8 or ::1
};
/// InvalidInput for what is no URL of these schemes, or holds a user, a query or a fragment.
[[nodiscard]] Result<UrlParts> partsOf(const std::string& url);

} // namespace kernelskill::engine
