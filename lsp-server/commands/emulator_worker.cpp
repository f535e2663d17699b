#include "engine/execution/emulator/emulator_executor.h"
#include "lsp-server/commands/command_line.h"

#include <CLI/CLI.hpp>

namespace kernelskill::lsp {

void addEmulatorWorkerCommand(CLI::App& app, Invocation& invocation) {
    CLI::App* command = app.add_subcommand("emulator-worker", "Runs kernels for the emulator");
    command->group("");
    command->callback([&invocation] { invocation.run = engine::runEmulatorWorker; });
}

} // namespace kernelskill::lsp
