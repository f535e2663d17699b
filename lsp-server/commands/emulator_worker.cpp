#include "engine/execution/emulator/worker/worker_main.h"
#include "lsp-server/commands/command_line.h"

namespace kernelskill::lsp {

void addEmulatorWorkerCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add("emulator-worker", "Runs kernels for the emulator");
    command.hide();
    command.whenChosen(
        [&invocation] { invocation.run = [] { return engine::runEmulatorWorker(); }; });
}

} // namespace kernelskill::lsp
