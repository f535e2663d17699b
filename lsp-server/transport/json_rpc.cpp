#include "lsp-server/transport/json_rpc.h"

#include "analysis/source/json.h"

#include <utility>

namespace kernelskill::lsp {

ResponseError toResponseError(const Error& error) {
    switch (error.kind) {
    case ErrorKind::InvalidInput:
        return {ErrorCode::InvalidParams, error.describe()};
    case ErrorKind::Cancelled:
        return {ErrorCode::RequestCancelled, error.describe()};
    case ErrorKind::Internal:
        return {ErrorCode::InternalError, error.describe()};
    case ErrorKind::Missing:
    case ErrorKind::Unsupported:
    case ErrorKind::Failed:
        break;
    }
    return {ErrorCode::RequestFailed, error.describe()};
}

Reply::Reply(RequestId id, std::string method, Send send)
    : id_(std::move(id)), method_(std::move(method)), send_(std::move(send)) {}

Reply::Reply(Reply&& other) noexcept
    : id_(std::move(other.id_)), method_(std::move(other.method_)),
      send_(std::exchange(other.send_, nullptr)) {}

Reply::~Reply() {
    if (send_)
        error(ErrorCode::InternalError, "the server did not answer '" + method_ + "'");
}

void Reply::result(nlohmann::json value) {
    if (const Send send = std::exchange(send_, nullptr))
        send(id_, std::move(value));
}

void Reply::error(ResponseError error) {
    if (const Send send = std::exchange(send_, nullptr))
        send(id_, std::unexpected(std::move(error)));
}

void Reply::error(ErrorCode code, std::string message) {
    error(ResponseError{code, std::move(message)});
}

} // namespace kernelskill::lsp
