/// HTTP requests by libcurl, which is loaded for the first one.
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
    /// The maximum time without a byte from the server.
    std::chrono::milliseconds silence{120'000};
    std::chrono::milliseconds total{600'000};
    std::size_t bytes = 16u << 20; ///< The maximum size of the answer's body.
};

struct HttpHead {
    int status = 0;
    std::string contentType; ///< Without parameters, in lower case.
    std::string retryAfter;  ///< The header's value; empty if absent.
};

struct HttpFailure {
    Error error;
    bool isTransient = false; ///< There was no connection, or it broke: try again.
};

/// Receives the body as it arrives. Returning false ends the transfer, which is no error.
using HttpBodySink = std::function<bool(const HttpHead&, std::string_view)>;

/// Posts a request and waits for the whole answer. Any status is an answer. Redirects are not
/// followed, so that headers stay with the host they were meant for. Certificates are checked. A
/// proxy is used as curl's variables say, except for this machine itself. Cancelled, at once, on
/// `stop`. Thread-safe.
[[nodiscard]] std::expected<HttpHead, HttpFailure> post(const HttpRequest& request,
                                                        const HttpLimits& limits,
                                                        std::stop_token stop,
                                                        const HttpBodySink& onBody);

/// Whether a connection with its TLS handshake can be made. Sends no request.
[[nodiscard]] std::expected<void, HttpFailure>
reach(const std::string& url, std::chrono::milliseconds time, std::stop_token stop);

/// 408, 429, and the statuses of a failing server: 500, 502, 503, 504, 529.
[[nodiscard]] bool isTransientStatus(int status);

struct UrlParts {
    std::string scheme; ///< "http" or "https"
    std::string host;
    bool isThisMachine = false; ///< localhost, 127.0.0.0/8 or ::1
};
/// InvalidInput if `url` has another scheme, or contains a user, a query or a fragment.
[[nodiscard]] Result<UrlParts> partsOf(const std::string& url);

} // namespace kernelskill::engine
