/// JSON-RPC 2.0 as LSP uses it: identifiers, error codes, and a reply that cannot be forgotten.
#pragma once

#include "analysis/source/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>

namespace kernelskill::lsp {

/// The error codes of JSON-RPC, LSP and the Model Context Protocol that this server sends.
enum class ErrorCode : int {
    ParseError = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    InternalError = -32603,
    ServerNotInitialized = -32002,
    ResourceNotFound = -32002,    ///< Used by the Model Context Protocol before 2026-07-28.
    UnsupportedRevision = -32022, ///< Used by the Model Context Protocol.
    RequestFailed = -32803,
    ServerCancelled = -32802,
    ContentModified = -32801,
    RequestCancelled = -32800,
};

struct ResponseError {
    ErrorCode code = ErrorCode::InternalError;
    std::string message;
    std::shared_ptr<const nlohmann::json> data = nullptr; ///< More for the client; null: none.
};

/// An engine's failure in the protocol's terms.
[[nodiscard]] ResponseError toResponseError(const Error& error);

using RequestId = std::variant<std::int64_t, std::string>;

/// The one reply to a request. Move-only; its holder answers, from any thread. If it does not, the
/// destructor answers with an error, so that a client never waits in vain.
class Reply {
public:
    using Send =
        std::function<void(const RequestId&, std::expected<nlohmann::json, ResponseError>)>;

    Reply() = default;
    Reply(RequestId id, std::string method, Send send);
    Reply(Reply&& other) noexcept;
    Reply& operator=(Reply&&) = delete;
    ~Reply();

    void result(nlohmann::json value);
    void error(ResponseError error);
    void error(ErrorCode code, std::string message);
    /// False once it has been answered or moved from.
    [[nodiscard]] bool isPending() const { return static_cast<bool>(send_); }

private:
    RequestId id_;
    std::string method_;
    Send send_;
};

} // namespace kernelskill::lsp
