#include "lsp-server/commands/command_line.h"
#include "lsp-server/configuration/options.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace kernelskill::lsp {

void addConfigurationSchemaCommand(CLI::App& app, Invocation& invocation) {
    CLI::App* command = app.add_subcommand(
        "configuration-schema", "The settings as package.json of the VS Code extension has them");
    command->group("");
    command->callback([&invocation] {
        invocation.run = [] {
            printJson(configurationSchema());
            return static_cast<int>(exitDone);
        };
    });
}

} // namespace kernelskill::lsp
