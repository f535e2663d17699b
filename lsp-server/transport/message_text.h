/// JSON-RPC messages as text.
#pragma once

#include "lsp-server/transport/json_rpc.h"

#include <nlohmann/json_fwd.hpp>

#include <expected>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

/// A body that is no message.
struct BadMessage {
    std::string why;
    bool isJson = false; ///< False: its announced length may be wrong; see FrameDecoder.
};

/// Parses a body. Replaces bytes that are not UTF-8, because an editor that sends the raw bytes of
/// a file still deserves an answer; `wasRepaired`, if given, says whether it did.
[[nodiscard]] std::expected<nlohmann::json, BadMessage> decodeMessage(std::string_view body,
                                                                      bool* wasRepaired = nullptr);

/// Never throws: text that is not UTF-8 is repaired.
[[nodiscard]] std::string encodeMessage(const nlohmann::json& message);

/// The response to the request with that id; null: to what had none.
[[nodiscard]] nlohmann::json responseMessage(nlohmann::json id,
                                             std::expected<nlohmann::json, ResponseError> outcome);

} // namespace kernelskill::lsp
