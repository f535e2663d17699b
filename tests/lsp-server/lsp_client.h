/// A language client for tests: starts the real server and talks to it over pipes.
#pragma once

#include "analysis/source/json.h"
#include "tests/temporary_folder.h"

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace kernelskill::lsp::testing {

using nlohmann::json;
using Milliseconds = std::chrono::milliseconds;

/// Capabilities of a modern editor.
[[nodiscard]] json editorCapabilities();

/// The protocol over the pipes: LSP has messages with headers, MCP has one a line.
enum class Speaks : std::uint8_t { Lsp, Mcp };

class LspClient {
public:
    /// `program`: the server's executable; empty: the one of this build.
    explicit LspClient(std::vector<std::string> arguments = {}, const std::string& program = "",
                       Speaks protocol = Speaks::Lsp);
    /// Kills the server if it still runs.
    ~LspClient();
    LspClient(const LspClient&) = delete;
    LspClient& operator=(const LspClient&) = delete;

    void sendBytes(std::string_view bytes);
    void send(const json& message); ///< Framed.
    /// Returns the id.
    int sendRequest(const std::string& method, const json& params);
    void notify(const std::string& method, const json& params);

    /// The next message that `wanted` accepts; others are kept for later calls. nullopt on time-out
    /// or end of output.
    [[nodiscard]] std::optional<json> waitFor(const std::function<bool(const json&)>& wanted,
                                              Milliseconds timeout = Milliseconds(20000));
    [[nodiscard]] json response(int id, Milliseconds timeout = Milliseconds(20000));
    /// Request and response; null when none came.
    json call(const std::string& method, const json& params,
              Milliseconds timeout = Milliseconds(20000));
    [[nodiscard]] json notification(const std::string& method,
                                    Milliseconds timeout = Milliseconds(20000));
    /// Diagnostics of `uri` at `version`; null on time-out.
    [[nodiscard]] json diagnostics(const std::string& uri, int version);

    /// initialize + initialized. Returns the result. Says that the workspace is trusted, unless
    /// `params` say something of it or `saysTrusted` is off.
    json initialize(json params = {{"capabilities", editorCapabilities()}});
    void open(const std::string& uri, const std::string& text, int version = 1,
              const std::string& languageId = "cuda-cpp");
    void change(const std::string& uri, int version, const json& contentChanges);

    void closeInput();
    /// The exit status; nullopt when the server has not ended in time; 128 + signal when it was
    /// killed.
    [[nodiscard]] std::optional<int> waitForExit(Milliseconds timeout = Milliseconds(10000));
    [[nodiscard]] bool isRunning();
    [[nodiscard]] pid_t pid() const { return pid_; }

    /// The answer to workspace/configuration.
    json configuration = nullptr;
    bool saysTrusted = true;
    /// The answer to window/showMessageRequest: the title of an action; nullopt: none is chosen.
    std::optional<std::string> chosenAction;
    /// The answer to workspace/applyEdit.
    bool appliesEdits = true;
    /// Called with the edit of workspace/applyEdit before it is answered, e.g. to change the text.
    std::function<void(const json& edit)> onApplyEdit;
    /// Requests the server has sent, in order; they are answered at once.
    std::vector<json> serverRequests;

private:
    [[nodiscard]] std::optional<json> receive(std::chrono::steady_clock::time_point deadline);
    void answer(const json& request);

    /// The next whole message in the buffer.
    [[nodiscard]] std::optional<std::string> takeBody();

    Speaks protocol_;
    pid_t pid_ = -1;
    int input_ = -1; ///< The server's standard input.
    int output_ = -1;
    int nextId_ = 1;
    std::string buffer_;
    std::deque<json> kept_;
    std::optional<int> status_;
};

/// A folder that is removed with the object, and files in it.
class TemporaryWorkspace {
public:
    /// Writes the file and returns its path.
    std::string write(const std::string& name, std::string_view text) const;
    [[nodiscard]] std::string path(const std::string& name = "") const;
    [[nodiscard]] std::string uri(const std::string& name = "") const;

private:
    kernelskill::testing::TemporaryFolder folder_;
};

/// The result of a run of the executable.
struct CommandResult {
    int status = -1;
    std::string output;
    std::string errors;
};
[[nodiscard]] CommandResult runKernelskill(const std::vector<std::string>& arguments,
                                           const std::string& directory = "");

} // namespace kernelskill::lsp::testing
