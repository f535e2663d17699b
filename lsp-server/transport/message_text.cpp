#include "lsp-server/transport/message_text.h"

#include "analysis/source/json.h"
#include "analysis/source/json_nesting.h"
#include "lsp-server/transport/utf8.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

std::expected<json, BadMessage> decodeMessage(std::string_view body, bool* wasRepaired) {
    if (analysis::isNestedTooDeeply(body))
        return std::unexpected(BadMessage{
            fmt::format("the message is nested deeper than {} levels", analysis::maxJsonNesting),
            true});
    json message = json::parse(body, nullptr, false);
    if (message.is_discarded() && !isValidUtf8(body)) {
        message = json::parse(replaceInvalidUtf8(body), nullptr, false);
        if (wasRepaired != nullptr)
            *wasRepaired = !message.is_discarded();
    }
    if (message.is_discarded())
        return std::unexpected(BadMessage{"the message is not JSON", false});
    return message;
}

std::string encodeMessage(const json& message) {
    return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

json responseMessage(json id, std::expected<json, ResponseError> outcome) {
    json message{{"jsonrpc", "2.0"}, {"id", std::move(id)}};
    if (outcome) {
        message["result"] = std::move(*outcome);
        return message;
    }
    message["error"] = {{"code", static_cast<int>(outcome.error().code)},
                        {"message", outcome.error().message}};
    if (outcome.error().data)
        message["error"]["data"] = *outcome.error().data;
    return message;
}

} // namespace kernelskill::lsp
