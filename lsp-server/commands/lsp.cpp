#include "lsp-server/commands/command_line.h"
#include "lsp-server/server/language_server.h"
#include "lsp-server/supervisor/supervisor.h"
#include "lsp-server/version.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace kernelskill::lsp {

void addLspCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command =
        program.add("lsp", "Run the language server on standard input and output");
    command.footer("\nEditors start this. Logs go to standard error, see --log-level.\n"
                   "The server runs in a child process, which is started again if it crashes.");
    const auto isSingle = std::make_shared<bool>(false);
    command.flag(*isSingle, {.name = "--single-process",
                             .help = "Run the server in this process: a crash ends the session"});
    command.whenChosen([&invocation, isSingle] {
        invocation.run = [&invocation, isSingle] {
            const auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
            spdlog::logger log("kernelskill", sink);
            log.set_level(spdlog::level::from_str(invocation.logLevel));
            log.set_pattern("[%H:%M:%S.%e] %^%l%$ %v");
            log.info("kernelskill {}", version);
            ServerSettings settings;
            settings.options = invocation.options;
            return *isSingle ? runLanguageServer(settings, log)
                             : superviseLanguageServer(settings, log);
        };
    });
}

} // namespace kernelskill::lsp
