#include "lsp-server/commands/command_line.h"
#include "lsp-server/server/language_server.h"
#include "lsp-server/version.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace kernelskill::lsp {

void addLspCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command =
        program.add("lsp", "Run the language server on standard input and output");
    command.footer("\nEditors start this. Logs go to standard error, see --log-level.");
    command.whenChosen([&invocation] {
        invocation.run = [&invocation] {
            const auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
            spdlog::logger log("kernelskill", sink);
            log.set_level(spdlog::level::from_str(invocation.logLevel));
            log.set_pattern("[%H:%M:%S.%e] %^%l%$ %v");
            log.info("kernelskill {}", version);
            ServerSettings settings;
            settings.options = invocation.options;
            return runLanguageServer(settings, log);
        };
    });
}

} // namespace kernelskill::lsp
