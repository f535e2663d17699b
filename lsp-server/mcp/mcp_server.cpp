#include "lsp-server/mcp/mcp_server.h"

#include "analysis/source/json.h"
#include "lsp-server/mcp/call_progress.h"
#include "lsp-server/mcp/protocol.h"
#include "lsp-server/mcp/schema.h"
#include "lsp-server/mcp/skill_resources.h"
#include "lsp-server/mcp/tool.h"
#include "lsp-server/transport/connection.h"
#include "lsp-server/transport/event_loop.h"
#include "lsp-server/transport/exit_deadline.h"
#include "lsp-server/transport/stdio_transport.h"
#include "lsp-server/workspace/workspace.h"
#include "lsp-server/workspace/workspace_root.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

constexpr std::chrono::hours keptLong{
    1}; ///< The lifetime of answers that do not change while the server runs.

constexpr const char* instructions =
    "Tools for CUDA C++ kernels. `check` and `profile` say what holds a kernel back, with the "
    "evidence; `plan` lists expert methods that fit, each described by a resource "
    "kernelskill://skills/{id}. Write an edit, give it to `try_edit`: it is compiled and run "
    "beside "
    "the original, and a wrong one is answered with the reason. Or let `apply_skill` and "
    "`optimize` make edits. `verify` judges what is in the file against git's HEAD. Lines count "
    "from 1 in texts and arguments, from 0 in structured results. A folder has to be trusted by "
    "its user (`kernelskill trust FOLDER`) before anything of it is compiled or run.";

Error notTrusted(const std::filesystem::path& folder) {
    return {ErrorKind::InvalidInput,
            fmt::format("the folder {} is not trusted, so nothing of it is compiled or run",
                        folder.string()),
            "",
            fmt::format("if you trust its code, let its user run `kernelskill trust {}`",
                        folder.string())};
}

/// An error inside of a tool, for the agent to read.
json failure(const Error& error) {
    return {{"content", {{{"type", "text"}, {"text", "error: " + error.describe()}}}},
            {"isError", true}};
}

json success(ToolAnswer answer) {
    return {{"content", {{{"type", "text"}, {"text", std::move(answer.text)}}}},
            {"structuredContent", std::move(answer.structured)},
            {"isError", false}};
}

class McpServer {
public:
    McpServer(const McpSettings& settings, spdlog::logger& log);
    int run();

private:
    using Handler =
        std::function<void(const json& params, McpEra era, Reply& reply, const std::stop_source&)>;

    void registerLifecycle();
    void registerLists();
    /// A request of both eras, or of one that both spell alike.
    void on(const std::string& method, Handler handler);
    [[nodiscard]] json initialize(const json& params);
    void callTool(const json& params, McpEra era, Reply& reply, const std::stop_source& stop);
    /// Finds what the tool works on. On the loop's thread.
    [[nodiscard]] Result<ToolCall> prepare(const Tool& tool, json arguments);
    void readResource(const json& params, McpEra era, Reply& reply) const;

    std::filesystem::path folder_;
    EventLoop loop_;
    StdioTransport transport_;
    Connection connection_;
    Workspace workspace_;
    std::shared_ptr<const engine::Workbench> first_; ///< It has the skills that are resources.
    Options options_;
    std::vector<Tool> tools_;
    bool isInitialized_ = false;
    WorkerPool jobs_; ///< Last, so that it is joined first.
};

FailureHandler logTo(spdlog::logger& log) {
    return [&log](const std::exception& failure) { log.error("unexpected: {}", failure.what()); };
}

McpServer::McpServer(const McpSettings& settings, spdlog::logger& log)
    : folder_(settings.folder), loop_(logTo(log)),
      transport_(loop_, settings.input, settings.output, settings.maxMessageBytes,
                 MessageFraming::Lines),
      connection_([this](std::string body) { transport_.send(std::move(body)); }, log),
      workspace_(log), options_(settings.options), tools_(allTools()), jobs_(2, logTo(log)) {
    workspace_.addFolder(workspaceRootOf(folder_ / "file"));
    std::ignore = workspace_.configure(options_);
    first_ = workspace_.workbench();
    registerLifecycle();
    registerLists();
}

void McpServer::on(const std::string& method, Handler handler) {
    connection_.onRequest(method, [this, handler = std::move(handler)](
                                      const json& params, Reply& reply, std::stop_source stop) {
        const auto era = eraOf(params, isInitialized_);
        if (!era)
            return reply.error(era.error());
        handler(params, *era, reply, stop);
    });
}

json McpServer::initialize(const json& params) {
    isInitialized_ = true;
    return {{"protocolVersion", legacyRevisionFor(params.at("protocolVersion").get<std::string>())},
            {"capabilities", {{"tools", json::object()}, {"resources", json::object()}}},
            {"serverInfo", mcpServerInfo()},
            {"instructions", instructions}};
}

void McpServer::registerLifecycle() {
    connection_.onRequest("initialize", [this](const json& params, Reply& reply, std::stop_source) {
        reply.result(initialize(params));
    });
    connection_.onRequest(
        "ping", [](const json&, Reply& reply, std::stop_source) { reply.result(json::object()); });
    connection_.onNotification("notifications/initialized", [](const json&) {});
    connection_.onNotification("notifications/cancelled", [this](const json& params) {
        connection_.drop(params.value("requestId", json()));
    });
    on("server/discover", [](const json&, McpEra era, Reply& reply, const std::stop_source&) {
        reply.result(
            kept({{"supportedVersions", spokenRevisions()},
                  {"capabilities", {{"tools", json::object()}, {"resources", json::object()}}},
                  {"_meta", {{"io.modelcontextprotocol/serverInfo", mcpServerInfo()}}},
                  {"instructions", instructions}},
                 era, keptLong));
    });
}

void McpServer::registerLists() {
    on("tools/list", [this](const json&, McpEra era, Reply& reply, const std::stop_source&) {
        json tools = json::array();
        for (const Tool& tool : tools_)
            tools.push_back(listed(tool));
        reply.result(kept({{"tools", std::move(tools)}}, era, keptLong));
    });
    on("tools/call", [this](const json& params, McpEra era, Reply& reply,
                            const std::stop_source& stop) { callTool(params, era, reply, stop); });
    on("resources/list", [this](const json&, McpEra era, Reply& reply, const std::stop_source&) {
        json resources = json::array();
        if (first_)
            resources = skillResources(first_->library().documents);
        reply.result(kept({{"resources", std::move(resources)}}, era, keptLong));
    });
    on("resources/templates/list", [](const json&, McpEra era, Reply& reply,
                                      const std::stop_source&) {
        reply.result(kept({{"resourceTemplates", json::array({skillTemplate()})}}, era, keptLong));
    });
    on("resources/read", [this](const json& params, McpEra era, Reply& reply,
                                const std::stop_source&) { readResource(params, era, reply); });
}

void McpServer::readResource(const json& params, McpEra era, Reply& reply) const {
    const std::string uri = params.at("uri").get<std::string>();
    auto text = first_ ? skillText(first_->library().documents, uri) : std::nullopt;
    if (!text)
        return reply.error(era == McpEra::Modern ? ErrorCode::InvalidParams
                                                 : ErrorCode::ResourceNotFound,
                           fmt::format("no resource '{}'; resources/list names them", uri));
    reply.result(
        kept({{"contents", {{{"uri", uri}, {"mimeType", "text/markdown"}, {"text", *text}}}}}, era,
             keptLong));
}

Result<ToolCall> McpServer::prepare(const Tool& tool, json arguments) {
    ToolCall call;
    call.file = (folder_ / arguments.at("file").get<std::string>()).lexically_normal();
    call.root = workspaceRootOf(call.file);
    call.arguments = std::move(arguments);
    workspace_.addFolder(call.root);
    std::ignore = workspace_.configure(options_); // The user may have come to trust it.
    call.isTrusted = workspace_.isTrusted(call.file);
    if (tool.runsCode && !call.isTrusted)
        return std::unexpected(notTrusted(workspace_.trustedUnit(call.file)));
    call.workbench = workspace_.workbench();
    call.commands = workspace_.compileCommands();
    if (call.workbench == nullptr)
        return std::unexpected(workspace_.problem());
    return call;
}

void McpServer::callTool(const json& params, McpEra era, Reply& reply,
                         const std::stop_source& stop) {
    const std::string name = params.at("name").get<std::string>();
    const auto tool = std::ranges::find(tools_, name, &Tool::name);
    if (tool == tools_.end())
        return reply.error(ErrorCode::InvalidParams,
                           fmt::format("no tool '{}'; tools/list names them", name));
    json arguments = params.value("arguments", json::object());
    if (!arguments.is_object())
        return reply.error(ErrorCode::InvalidParams, "'arguments' must be an object");
    if (std::string misfit = misfitOf(tool->argumentSchema, arguments); !misfit.empty())
        return reply.result(
            completed(failure({ErrorKind::InvalidInput, std::move(misfit), "", ""}), era));
    auto call = prepare(*tool, std::move(arguments));
    if (!call)
        return reply.result(completed(failure(call.error()), era));
    call->stop = stop.get_token();
    const auto progress = CallProgress::of(params, connection_, stop.get_token());
    call->progress = [progress](std::string_view what, double part) {
        progress->report(what, part);
    };
    jobs_.post([&run = tool->run, call = std::move(*call), era, progress,
                reply = std::move(reply)]() mutable {
        Result<ToolAnswer> answer = run(call);
        progress->end();
        reply.result(
            completed(answer ? success(std::move(*answer)) : failure(answer.error()), era));
    });
}

int McpServer::run() {
    transport_.start(
        {[this](std::string_view body) { return connection_.handle(body); },
         [this](const FrameError& error) { connection_.reportBadFrame(error.message); },
         [this] {
             connection_.cancelAll();
             transport_.flush([this] { loop_.stop(); });
         }});
    loop_.run();
    return EXIT_SUCCESS;
}

} // namespace

int runMcpServer(const McpSettings& settings, spdlog::logger& log) {
    auto server = std::make_unique<McpServer>(settings, log);
    const int status = server->run();
    const ExitDeadline deadline(status);
    server.reset();
    return status;
}

} // namespace kernelskill::lsp
