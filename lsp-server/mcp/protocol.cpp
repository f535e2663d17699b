#include "lsp-server/mcp/protocol.h"

#include "lsp-server/version.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 3> legacyRevisions{"2025-11-25", "2025-06-18", "2024-11-05"};

constexpr const char* revisionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

} // namespace

std::string_view legacyRevisionFor(std::string_view wanted) {
    const auto found = std::ranges::find(legacyRevisions, wanted);
    return found == legacyRevisions.end() ? legacyRevisions.front() : *found;
}

json spokenRevisions() {
    json revisions{modernRevision};
    for (const std::string_view revision : legacyRevisions)
        revisions.push_back(revision);
    return revisions;
}

std::expected<McpEra, ResponseError> eraOf(const json& params, bool isInitialized) {
    const auto meta = params.is_object() ? params.find("_meta") : params.end();
    const bool saysRevision =
        meta != params.end() && meta->is_object() && meta->contains(revisionKey);
    if (!saysRevision) {
        if (isInitialized)
            return McpEra::Legacy;
        return std::unexpected(ResponseError{
            ErrorCode::InvalidRequest,
            fmt::format("'initialize' comes first, or each request says \"{}\" in its _meta",
                        revisionKey)});
    }
    const json& revision = meta->at(revisionKey);
    if (revision != modernRevision)
        return std::unexpected(ResponseError{
            ErrorCode::UnsupportedRevision,
            fmt::format("the protocol's revision {} is not spoken here", revision.dump()),
            std::make_shared<const json>(
                json{{"supported", spokenRevisions()}, {"requested", revision}})});
    const auto capabilities = meta->find(capabilitiesKey);
    if (capabilities == meta->end() || !capabilities->is_object())
        return std::unexpected(ResponseError{
            ErrorCode::InvalidParams,
            fmt::format("_meta needs the client's capabilities, \"{}\"", capabilitiesKey)});
    return McpEra::Modern;
}

json completed(json result, McpEra era) {
    if (era == McpEra::Modern)
        result["resultType"] = "complete";
    return result;
}

json kept(json result, McpEra era, std::chrono::milliseconds time) {
    if (era == McpEra::Modern) {
        result["ttlMs"] = time.count();
        result["cacheScope"] = "private";
    }
    return completed(std::move(result), era);
}

json mcpServerInfo() {
    return {{"name", "kernelskill"}, {"title", "KernelSkill"}, {"version", version}};
}

} // namespace kernelskill::lsp
