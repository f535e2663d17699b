#include "lsp-server/commands/command_line.h"
#include "lsp-server/mcp/mcp_server.h"
#include "lsp-server/version.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>

namespace kernelskill::lsp {

void addMcpCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command =
        program.add("mcp", "Run the server for coding agents (Model Context Protocol) on standard "
                           "input and output");
    command.footer(
        "\nAgents start this, in the folder of a project:\n"
        "  claude mcp add kernelskill -- kernelskill mcp\n"
        "\nTools: check, plan, nest, memory, profile, try_edit, verify, apply_skill, optimize; "
        "resources: the skills.\nNothing is compiled or run in a folder that you have not trusted "
        "(`kernelskill trust FOLDER`).\nnvcc's flags may follow `--`. Logs go to standard error.");
    command.whenChosen([&invocation] {
        invocation.run = [&invocation] {
            const auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
            spdlog::logger log("kernelskill", sink);
            log.set_level(spdlog::level::from_str(invocation.logLevel));
            log.info("kernelskill {}", version);
            std::error_code error;
            McpSettings settings;
            settings.options = invocation.options;
            settings.folder = std::filesystem::current_path(error);
            return runMcpServer(settings, log);
        };
    });
}

} // namespace kernelskill::lsp
