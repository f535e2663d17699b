#include "tests/lsp-server/lsp_client.h"

#include "lsp-server/protocol/uri.h"
#include "lsp-server/transport/framing.h"
#include "tests/paths.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kernelskill::lsp::testing {

using Clock = std::chrono::steady_clock;

namespace {

const std::string executable = std::string(paths::buildFolder) + "/bin/kernelskill";

std::vector<char*> pointers(std::vector<std::string>& arguments) {
    std::vector<char*> result;
    for (std::string& argument : arguments)
        result.push_back(argument.data());
    result.push_back(nullptr);
    return result;
}

void makePipe(int (&ends)[2]) {
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw std::runtime_error("pipe");
}

int statusOf(int waited) {
    return WIFEXITED(waited) ? WEXITSTATUS(waited) : 128 + WTERMSIG(waited);
}

} // namespace

json editorCapabilities() {
    return {{"general", {{"positionEncodings", {"utf-16"}}}},
            {"workspace",
             {{"applyEdit", true},
              {"workspaceEdit", {{"documentChanges", true}}},
              {"codeLens", {{"refreshSupport", true}}},
              {"inlayHint", {{"refreshSupport", true}}}}},
            {"textDocument",
             {{"hover", {{"contentFormat", {"markdown", "plaintext"}}}},
              {"publishDiagnostics",
               {{"relatedInformation", true},
                {"versionSupport", true},
                {"codeDescriptionSupport", true}}},
              {"codeAction",
               {{"codeActionLiteralSupport",
                 {{"codeActionKind", {{"valueSet", {"quickfix", "refactor.rewrite"}}}}}},
                {"isPreferredSupport", true},
                {"dataSupport", true},
                {"resolveSupport", {{"properties", {"edit"}}}}}}}},
            {"window", {{"workDoneProgress", true}}}};
}

LspClient::LspClient(std::vector<std::string> arguments, const std::string& program,
                     Speaks protocol)
    : protocol_(protocol) {
    std::signal(SIGPIPE, SIG_IGN);
    int toServer[2];
    int fromServer[2];
    makePipe(toServer);
    makePipe(fromServer);
    arguments.insert(arguments.begin(), {program.empty() ? executable : program, "--log-level",
                                         "off", protocol == Speaks::Lsp ? "lsp" : "mcp"});
    std::vector<char*> argv = pointers(arguments);
    pid_ = ::fork();
    if (pid_ == 0) {
        ::dup2(toServer[0], STDIN_FILENO);
        ::dup2(fromServer[1], STDOUT_FILENO);
        ::execv(argv.front(), argv.data());
        ::_exit(127);
    }
    ::close(toServer[0]);
    ::close(fromServer[1]);
    input_ = toServer[1];
    output_ = fromServer[0];
}

LspClient::~LspClient() {
    closeInput();
    if (!waitForExit(Milliseconds(5000))) {
        ::kill(pid_, SIGKILL);
        int waited = 0;
        ::waitpid(pid_, &waited, 0);
    }
    ::close(output_);
}

void LspClient::sendBytes(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(input_, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR)
            return; // The server has closed its input: the test will see that it is gone.
        bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
}

void LspClient::send(const json& message) {
    sendBytes(protocol_ == Speaks::Lsp ? encodeFrame(message.dump()) : message.dump() + "\n");
}

int LspClient::sendRequest(const std::string& method, const json& params) {
    const int id = nextId_++;
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
    return id;
}

void LspClient::notify(const std::string& method, const json& params) {
    send({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

std::optional<std::string> LspClient::takeBody() {
    std::size_t begin = 0;
    std::size_t length = buffer_.find('\n');
    std::size_t end = length + 1;
    if (protocol_ == Speaks::Lsp) {
        constexpr std::string_view name = "Content-Length: ";
        const auto headerEnd = buffer_.find("\r\n\r\n");
        if (headerEnd == std::string::npos || !buffer_.starts_with(name))
            return std::nullopt;
        std::from_chars(buffer_.data() + name.size(), buffer_.data() + headerEnd, length);
        begin = headerEnd + 4;
        end = begin + length;
        if (buffer_.size() < end)
            return std::nullopt;
    } else if (length == std::string::npos) {
        return std::nullopt;
    }
    std::string body = buffer_.substr(begin, length);
    buffer_.erase(0, end);
    return body;
}

std::optional<json> LspClient::receive(Clock::time_point deadline) {
    for (;;) {
        if (const auto body = takeBody())
            return json::parse(*body);
        const auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now());
        pollfd waiting{output_, POLLIN, 0};
        if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0)
            return std::nullopt;
        char chunk[65536];
        const ssize_t size = ::read(output_, chunk, sizeof chunk);
        if (size <= 0)
            return std::nullopt;
        buffer_.append(chunk, static_cast<std::size_t>(size));
    }
}

void LspClient::answer(const json& request) {
    serverRequests.push_back(request);
    json result = nullptr;
    if (request.at("method") == "workspace/configuration")
        result = json::array({configuration});
    if (request.at("method") == "workspace/applyEdit") {
        if (appliesEdits && onApplyEdit)
            onApplyEdit(request.at("params").at("edit"));
        result = {{"applied", appliesEdits}};
    }
    if (request.at("method") == "window/showMessageRequest" && chosenAction)
        result = {{"title", *chosenAction}};
    send({{"jsonrpc", "2.0"}, {"id", request.at("id")}, {"result", result}});
}

std::optional<json> LspClient::waitFor(const std::function<bool(const json&)>& wanted,
                                       Milliseconds timeout) {
    for (auto message = kept_.begin(); message != kept_.end(); ++message) {
        if (wanted(*message)) {
            json found = std::move(*message);
            kept_.erase(message);
            return found;
        }
    }
    const auto deadline = Clock::now() + timeout;
    while (auto message = receive(deadline)) {
        if (message->contains("method") && message->contains("id"))
            answer(*message);
        if (wanted(*message))
            return message;
        kept_.push_back(std::move(*message));
    }
    return std::nullopt;
}

json LspClient::response(int id, Milliseconds timeout) {
    return waitFor(
               [id](const json& message) {
                   return !message.contains("method") && message.value("id", json()) == json(id);
               },
               timeout)
        .value_or(json());
}

json LspClient::call(const std::string& method, const json& params, Milliseconds timeout) {
    return response(sendRequest(method, params), timeout);
}

json LspClient::notification(const std::string& method, Milliseconds timeout) {
    return waitFor([&](const json& message) { return message.value("method", "") == method; },
                   timeout)
        .value_or(json());
}

json LspClient::diagnostics(const std::string& uri, int version) {
    const auto message = waitFor([&](const json& candidate) {
        return candidate.value("method", "") == "textDocument/publishDiagnostics" &&
               candidate.at("params").at("uri") == uri &&
               candidate.at("params").value("version", -1) == version;
    });
    return message ? message->at("params").at("diagnostics") : json();
}

json LspClient::initialize(json params) {
    if (!params.contains("processId"))
        params["processId"] = nullptr;
    if (saysTrusted && !params["initializationOptions"].contains("trusted"))
        params["initializationOptions"]["trusted"] = true;
    json answer = call("initialize", params);
    notify("initialized", json::object());
    return answer.value("result", json());
}

void LspClient::open(const std::string& uri, const std::string& text, int version,
                     const std::string& languageId) {
    notify("textDocument/didOpen",
           {{"textDocument",
             {{"uri", uri}, {"languageId", languageId}, {"version", version}, {"text", text}}}});
}

void LspClient::change(const std::string& uri, int version, const json& contentChanges) {
    notify("textDocument/didChange", {{"textDocument", {{"uri", uri}, {"version", version}}},
                                      {"contentChanges", contentChanges}});
}

void LspClient::closeInput() {
    if (input_ >= 0)
        ::close(input_);
    input_ = -1;
}

std::optional<int> LspClient::waitForExit(Milliseconds timeout) {
    const auto deadline = Clock::now() + timeout;
    while (!status_ && Clock::now() < deadline) {
        // Without a reader the server waits for room in the pipe.
        pollfd waiting{output_, POLLIN, 0};
        char chunk[65536];
        if (::poll(&waiting, 1, 5) > 0 && ::read(output_, chunk, sizeof chunk) <= 0)
            std::this_thread::sleep_for(Milliseconds(2));
        int waited = 0;
        if (::waitpid(pid_, &waited, WNOHANG) == pid_)
            status_ = statusOf(waited);
    }
    return status_;
}

bool LspClient::isRunning() {
    int waited = 0;
    if (!status_ && ::waitpid(pid_, &waited, WNOHANG) == pid_)
        status_ = statusOf(waited);
    return !status_;
}

std::string TemporaryWorkspace::write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = path(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
}

std::string TemporaryWorkspace::path(const std::string& name) const {
    return (name.empty() ? folder_.path() : folder_.path() / name).string();
}

std::string TemporaryWorkspace::uri(const std::string& name) const {
    return uriFromPath(path(name));
}

CommandResult runKernelskill(const std::vector<std::string>& arguments,
                             const std::string& directory) {
    const TemporaryWorkspace streams;
    const std::string output = streams.path("out");
    const std::string errors = streams.path("err");
    std::vector<std::string> all = arguments;
    all.insert(all.begin(), executable);
    std::vector<char*> argv = pointers(all);
    const pid_t child = ::fork();
    if (child == 0) {
        const int out = ::open(output.c_str(), O_CREAT | O_WRONLY, 0600);
        const int err = ::open(errors.c_str(), O_CREAT | O_WRONLY, 0600);
        ::dup2(out, STDOUT_FILENO);
        ::dup2(err, STDERR_FILENO);
        if (!directory.empty() && ::chdir(directory.c_str()) != 0)
            ::_exit(126);
        ::execv(argv.front(), argv.data());
        ::_exit(127);
    }
    int waited = 0;
    ::waitpid(child, &waited, 0);
    const auto read = [](const std::string& path) {
        std::ifstream stream(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(stream), {});
    };
    return {statusOf(waited), read(output), read(errors)};
}

} // namespace kernelskill::lsp::testing
