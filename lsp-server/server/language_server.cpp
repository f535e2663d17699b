#include "lsp-server/server/language_server.h"

#include "analysis/source/json.h"
#include "analysis/source/json_reading.h"
#include "engine/diagnosis/gpus.h"
#include "lsp-server/protocol/server_capabilities.h"
#include "lsp-server/protocol/uri.h"
#include "lsp-server/server/head_texts.h"
#include "lsp-server/server/kept_judgements.h"
#include "lsp-server/server/program_profile_requests.h"
#include "lsp-server/server/program_profiles.h"
#include "lsp-server/server/save_profiling.h"
#include "lsp-server/server/server_context.h"
#include "lsp-server/server/trust_gate.h"
#include "lsp-server/server/verify_request.h"
#include "lsp-server/transport/exit_deadline.h"
#include "lsp-server/transport/stdio_transport.h"
#include "lsp-server/version.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <set>
#include <signal.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

constexpr std::chrono::seconds parentCheckInterval{3};

unsigned parserThreads() {
    return std::clamp(std::thread::hardware_concurrency(), 2u, 4u);
}

class LanguageServer {
public:
    LanguageServer(const ServerSettings& settings, spdlog::logger& log);
    int run();

private:
    enum class State { Uninitialized, Running, ShutDown };

    void registerLifecycle();
    void registerTextSynchronization();
    void registerWorkspace();
    json initialize(const json& params);
    void onInitialized();
    void pullConfiguration();
    void configure(const json& section);
    /// Tells the user of skills that cannot be used.
    void reportSkills();
    /// Skills and documents of a folder that has become trusted.
    void onTrusted();
    /// Tells the user, once, of compile flags that were left out.
    void reportFlags(const Snapshot& snapshot);
    void watchParent();
    void exit();
    [[nodiscard]] std::optional<ResponseError> refusal(std::string_view method) const;

    spdlog::logger& log_;
    Options commandLineOptions_;
    EventLoop loop_;
    StdioTransport transport_;
    Connection connection_;
    ClientCapabilities capabilities_;
    Workspace workspace_;
    TrustGate trust_;
    std::set<std::string> reportedFlags_;
    ProgressRegistry progress_;
    SaveProfiling saveProfiling_;
    SaveVerification saveVerification_;
    SaveProgramProfiling saveProgramProfiling_;
    HeadTexts head_;
    KeptJudgements judgements_;
    ProgramProfiles programs_;
    // The pools come after what their tasks use, so that they are joined first.
    DocumentManager documents_;
    WorkerPool parsers_;
    WorkerPool background_;
    WorkerPool reads_;
    WorkerPool jobs_;
    ServerContext context_;
    State state_ = State::Uninitialized;
    bool isExiting_ = false;
    pid_t parent_ = 0;
    Timer parentTimer_;
};

FailureHandler logTo(spdlog::logger& log) {
    return [&log](const std::exception& failure) { log.error("unexpected: {}", failure.what()); };
}

LanguageServer::LanguageServer(const ServerSettings& settings, spdlog::logger& log)
    : log_(log), commandLineOptions_(settings.options), loop_(logTo(log)),
      transport_(loop_, settings.input, settings.output, settings.maxMessageBytes),
      connection_([this](std::string body) { transport_.send(std::move(body)); }, log),
      workspace_(log), trust_(loop_, connection_, workspace_, [this] { onTrusted(); }),
      progress_(loop_, connection_), saveProfiling_(context_, loop_),
      saveVerification_(context_, loop_), saveProgramProfiling_(context_, loop_), head_(context_),
      documents_(loop_, parsers_, background_, log, workspace_,
                 {[this](const ParseInput& input, const auto& diagnostics) {
                      publishParserDiagnostics(context_, input, diagnostics);
                  },
                  [this](const SnapshotPtr& snapshot) {
                      publishAllDiagnostics(context_, snapshot);
                      reportFlags(*snapshot);
                      saveProfiling_.parsed(snapshot);
                  }}),
      parsers_(parserThreads(), logTo(log)), background_(1, logTo(log)), reads_(2, logTo(log)),
      jobs_(2, logTo(log)),
      context_{loop_,     log_,          connection_, reads_, jobs_,       workspace_, documents_,
               progress_, capabilities_, trust_,      head_,  judgements_, programs_} {
    connection_.setGates([this](std::string_view method) { return refusal(method); },
                         [this](std::string_view method) {
                             return state_ == State::Running || method == "exit" ||
                                    method == "$/cancelRequest";
                         });
    registerLifecycle();
    registerTextSynchronization();
    registerWorkspace();
    registerReadRequests(context_);
    registerEditRequests(context_);
    registerCommands(context_);
    registerAssembly(context_);
    registerReportRequest(context_);
    registerKernelsRequest(context_);
    registerProgramsRequest(context_);
}

std::optional<ResponseError> LanguageServer::refusal(std::string_view method) const {
    switch (state_) {
    case State::Uninitialized:
        if (method == "initialize")
            return std::nullopt;
        return ResponseError{ErrorCode::ServerNotInitialized, "initialize comes first"};
    case State::ShutDown:
        return ResponseError{ErrorCode::InvalidRequest, "the server has been shut down"};
    case State::Running:
        break;
    }
    if (method == "initialize")
        return ResponseError{ErrorCode::InvalidRequest, "the server is initialised already"};
    return std::nullopt;
}

void LanguageServer::registerLifecycle() {
    connection_.onRequest("initialize", [this](const json& params, Reply& reply, std::stop_source) {
        reply.result(initialize(params));
    });
    connection_.onNotification("initialized", [this](const json&) { onInitialized(); });
    connection_.onRequest("shutdown", [this](const json&, Reply& reply, std::stop_source) {
        state_ = State::ShutDown;
        reply.result(nullptr);
        connection_.cancelAll();
    });
    connection_.onNotification("exit", [this](const json&) { exit(); });
    connection_.onNotification("$/setTrace", [this](const json& params) {
        log_.debug("trace: {}", params.value("value", "off"));
    });
    connection_.onNotification("window/workDoneProgress/cancel",
                               [this](const json& params) { progress_.cancel(params); });
}

void LanguageServer::registerTextSynchronization() {
    connection_.onNotification("textDocument/didOpen", [this](const json& params) {
        documents_.open(params.at("textDocument").get<TextDocumentItem>());
        saveProgramProfiling_.opened(textDocumentUri(params));
    });
    connection_.onNotification("textDocument/didChange", [this](const json& params) {
        const auto change = params.get<DidChangeTextDocumentParams>();
        if (!documents_.change(change, capabilities_.positionEncoding))
            log_.warn("didChange for a document that is not open: {}", change.uri);
        saveProfiling_.changed(change.uri);
        saveVerification_.changed(change.uri);
    });
    connection_.onNotification("textDocument/didSave", [this](const json& params) {
        const std::string uri = textDocumentUri(params);
        if (const auto path = pathFromUri(uri))
            documents_.filesChanged({*path}, false);
        saveProfiling_.saved(uri);
        saveVerification_.saved(uri);
        saveProgramProfiling_.saved(uri);
    });
    connection_.onNotification("textDocument/didClose", [this](const json& params) {
        const std::string uri = textDocumentUri(params);
        documents_.close(uri);
        saveProfiling_.closed(uri);
        saveVerification_.closed(uri);
        saveProgramProfiling_.closed(uri);
        head_.closed(uri);
        judgements_.closed(uri);
        clearDiagnostics(context_, uri);
    });
}

void LanguageServer::registerWorkspace() {
    connection_.onNotification("workspace/didChangeConfiguration", [this](const json& params) {
        if (capabilities_.configuration)
            return pullConfiguration();
        const json settings = params.value("settings", json::object());
        if (settings.is_object())
            configure(settings.value("kernelskill", settings));
    });
    connection_.onNotification("workspace/didChangeWorkspaceFolders", [this](const json& params) {
        const json& event = params.at("event");
        for (const auto& folder : event.value("removed", std::vector<WorkspaceFolder>{}))
            if (const auto path = pathFromUri(folder.uri))
                workspace_.removeFolder(*path);
        for (const auto& folder : event.value("added", std::vector<WorkspaceFolder>{}))
            if (const auto path = pathFromUri(folder.uri))
                workspace_.addFolder(*path);
        if (workspace_.configure(workspace_.options()))
            reportSkills();
        documents_.reloadAll();
    });
    connection_.onNotification("workspace/didChangeWatchedFiles", [this](const json& params) {
        std::vector<std::filesystem::path> paths;
        bool commands = false;
        bool skills = false;
        for (const json& change : params.at("changes")) {
            const auto path = pathFromUri(change.at("uri").get<std::string>());
            if (!path)
                continue;
            const auto name = path->filename();
            commands = commands || name == "compile_commands.json" || name == "compile_flags.txt";
            skills = skills || name == "SKILL.md";
            paths.push_back(*path);
        }
        if (skills) {
            workspace_.reloadSkills();
            reportSkills();
        }
        documents_.filesChanged(paths, commands || skills);
    });
}

json LanguageServer::initialize(const json& params) {
    if (const auto capabilities = params.find("capabilities");
        capabilities != params.end() && capabilities->is_object())
        capabilities->get_to(capabilities_);
    progress_.setClientCreates(capabilities_.workDoneProgress);
    bool hasFolders = false;
    if (const auto folders = params.find("workspaceFolders");
        folders != params.end() && folders->is_array()) {
        for (const auto& folder : folders->get<std::vector<WorkspaceFolder>>()) {
            if (const auto path = pathFromUri(folder.uri)) {
                workspace_.addFolder(*path);
                hasFolders = true;
            }
        }
    }
    const auto text = [&](const char* key) {
        const auto value = params.find(key);
        return value != params.end() && value->is_string() ? value->get<std::string>() : "";
    };
    if (!hasFolders) {
        if (const auto root = pathFromUri(text("rootUri")))
            workspace_.addFolder(*root);
        else if (const std::string path = text("rootPath"); path.starts_with('/'))
            workspace_.addFolder(path);
    }
    if (const auto process = analysis::integerIn<pid_t>(params, "processId"))
        parent_ = *process;
    const auto given = params.find("initializationOptions");
    json section = given != params.end() ? *given : json::object();
    // Not a setting: a workspace's own files must not be able to say it.
    if (section.is_object() && section.contains("trusted")) {
        workspace_.setClientTrust(section.at("trusted") == true ? ClientTrust::Trusted
                                                                : ClientTrust::NotTrusted);
        section.erase("trusted");
    }
    configure(section);
    state_ = State::Running;
    return {{"capabilities", serverCapabilities(capabilities_)},
            {"serverInfo", {{"name", "kernelskill"}, {"version", version}}}};
}

void LanguageServer::onInitialized() {
    if (parent_ > 0)
        watchParent();
    json registrations = json::array();
    if (capabilities_.didChangeConfigurationRegistration)
        registrations.push_back({{"id", "configuration"},
                                 {"method", "workspace/didChangeConfiguration"},
                                 {"registerOptions", {{"section", "kernelskill"}}}});
    if (capabilities_.watchedFilesRegistration) {
        json watchers = json::array();
        for (const char* glob : {"**/compile_commands.json", "**/compile_flags.txt",
                                 "**/*.{cu,cuh,h,hpp,inl}", "**/.kernelskill/skills/*/SKILL.md"})
            watchers.push_back({{"globPattern", glob}});
        registrations.push_back({{"id", "files"},
                                 {"method", "workspace/didChangeWatchedFiles"},
                                 {"registerOptions", {{"watchers", std::move(watchers)}}}});
    }
    if (!registrations.empty())
        connection_.request("client/registerCapability",
                            {{"registrations", std::move(registrations)}}, [](const auto&) {});
    if (capabilities_.configuration)
        pullConfiguration();
}

void LanguageServer::pullConfiguration() {
    connection_.request(
        "workspace/configuration", {{"items", json::array({{{"section", "kernelskill"}}})}},
        [this](const auto& answer) {
            // null: the user has set nothing, so what initialize brought stays.
            if (answer && answer->is_array() && !answer->empty() && answer->at(0).is_object())
                configure(answer->at(0));
        });
}

void LanguageServer::configure(const json& section) {
    Options options = commandLineOptions_;
    std::vector<std::string> problems = readOptions(section, options);
    if (const auto& gpus = engine::builtinGpus();
        gpus && engine::gpuNamed(*gpus, options.gpu) == nullptr) {
        problems.push_back(fmt::format(
            "kernelskill.estimates.gpu: no numbers are known of a '{}'; an H200 is taken",
            options.gpu));
        options.gpu = Options{}.gpu;
    }
    for (const std::string& problem : problems) {
        log_.warn("{}", problem);
        context_.showMessage(ServerContext::MessageType::Warning, problem);
    }
    if (!workspace_.configure(options))
        return;
    if (!workspace_.workbench())
        context_.showMessage(ServerContext::MessageType::Error, workspace_.problem().describe());
    reportSkills();
    if (!options.diagnosticsEnabled) {
        for (const Document* document : documents_.all())
            clearDiagnostics(context_, document->uri);
    }
    documents_.reloadAll();
}

void LanguageServer::reportSkills() {
    if (!workspace_.workbench())
        return;
    for (const Error& error : workspace_.workbench()->library().errors) {
        log_.warn("{}", error.describe());
        context_.showMessage(ServerContext::MessageType::Warning,
                             "A skill was left out: " + error.describe());
    }
}

void LanguageServer::onTrusted() {
    if (workspace_.configure(workspace_.options()))
        reportSkills();
    documents_.reloadAll();
}

void LanguageServer::reportFlags(const Snapshot& snapshot) {
    for (const std::string& note : snapshot.program.command.notes) {
        if (!reportedFlags_.insert(note).second)
            continue;
        log_.warn("{}", note);
        context_.showMessage(ServerContext::MessageType::Warning, note);
    }
}

void LanguageServer::watchParent() {
    parentTimer_ = loop_.after(parentCheckInterval, [this] {
        if (::kill(parent_, 0) == -1 && errno == ESRCH) {
            log_.warn("the editor's process {} is gone", parent_);
            exit();
        } else {
            watchParent();
        }
    });
}

void LanguageServer::exit() {
    if (std::exchange(isExiting_, true))
        return;
    connection_.cancelAll();
    transport_.flush([this] { loop_.stop(); });
}

int LanguageServer::run() {
    transport_.start(
        {[this](std::string_view body) { return connection_.handle(body); },
         [this](const FrameError& error) { connection_.reportBadFrame(error.message); },
         [this] { exit(); }});
    loop_.run();
    return state_ == State::ShutDown ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int runLanguageServer(const ServerSettings& settings, spdlog::logger& log) {
    auto server = std::make_unique<LanguageServer>(settings, log);
    const int status = server->run();
    const ExitDeadline deadline(status);
    server.reset();
    return status;
}

} // namespace kernelskill::lsp
