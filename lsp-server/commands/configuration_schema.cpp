#include "analysis/source/json.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/configuration/options.h"

namespace kernelskill::lsp {

void addConfigurationSchemaCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "configuration-schema", "The settings as package.json of the VS Code extension has them");
    command.hide();
    command.whenChosen([&invocation] {
        invocation.run = [] {
            printJson(configurationSchema());
            return static_cast<int>(exitDone);
        };
    });
}

} // namespace kernelskill::lsp
