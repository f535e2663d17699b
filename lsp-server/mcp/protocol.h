/// The Model Context Protocol's revisions, and what differs between them.
#pragma once

#include "analysis/source/json.h"
#include "lsp-server/transport/json_rpc.h"

#include <chrono>
#include <expected>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

/// A modern request says its revision itself; a legacy one follows a handshake.
enum class McpEra : std::uint8_t { Legacy, Modern };

/// The revision whose requests carry it in `_meta`. Source: modelcontextprotocol.io,
/// specification/2026-07-28/basic/versioning.
inline constexpr std::string_view modernRevision = "2026-07-28";

/// The answer to `initialize`: `wanted` if it is a legacy revision that is spoken, else the newest
/// of these. 2025-03-26 is not: it asks for batches.
[[nodiscard]] std::string_view legacyRevisionFor(std::string_view wanted);

/// All revisions that are spoken, newest first.
[[nodiscard]] nlohmann::json spokenRevisions();

/// The era of a request by its params. Errors: a modern revision that is not spoken, with those
/// that are; a modern request without the client's capabilities; and a legacy request before
/// `initialize`
/// (`isInitialized`).
[[nodiscard]] std::expected<McpEra, ResponseError> eraOf(const nlohmann::json& params,
                                                         bool isInitialized);

/// A result as the era has it: a modern one says that it is complete.
[[nodiscard]] nlohmann::json completed(nlohmann::json result, McpEra era);
/// The same for a result that a modern client may keep for `time`.
[[nodiscard]] nlohmann::json kept(nlohmann::json result, McpEra era,
                                  std::chrono::milliseconds time);

/// {name, title, version}
[[nodiscard]] nlohmann::json mcpServerInfo();

} // namespace kernelskill::lsp
