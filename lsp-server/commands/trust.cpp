#include "analysis/source/json.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/workspace/trusted_folders.h"

#include <spdlog/fmt/fmt.h>

#include <memory>
#include <string>

namespace kernelskill::lsp {

namespace {

struct TrustRequest {
    std::string folder;
    bool remove = false;
    bool list = false;
};

int runTrust(const TrustRequest& request, const Invocation& invocation) {
    const TrustedFolders trusted;
    if (!request.list) {
        const std::string folder = request.folder.empty() ? "." : request.folder;
        const auto done = request.remove ? trusted.remove(folder) : trusted.add(folder);
        if (!done)
            return reportError(done.error(), invocation);
    }
    if (invocation.json) {
        nlohmann::json folders = nlohmann::json::array();
        for (const auto& folder : trusted.all())
            folders.push_back(folder.string());
        printJson({{"trusted", std::move(folders)}});
    } else if (request.list) {
        for (const auto& folder : trusted.all())
            fmt::print("{}\n", folder.string());
    }
    return exitDone;
}

} // namespace

void addTrustCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "trust", "Let the server compile and run the kernels of a folder, and use its skills");
    command.footer("\nEditors that know trust themselves (VS Code) are not asked. The list is kept "
                   "in $XDG_STATE_HOME/kernelskill.");
    const auto request = std::make_shared<TrustRequest>();
    command.option(&request->folder, {.name = "FOLDER",
                                      .help = "The folder; the current one if "
                                              "none is given"});
    command.flag(request->remove, {.name = "--remove", .help = "Trust it no more"});
    command.flag(request->list, {.name = "--list", .help = "Show the folders that are trusted"});
    addJsonFlag(command, invocation);
    command.whenChosen([&invocation, request] {
        invocation.run = [&invocation, request] { return runTrust(*request, invocation); };
    });
}

} // namespace kernelskill::lsp
