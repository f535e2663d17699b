#include "engine/static_facts/compile_worker.h"

#include "lsp-server/commands/command_line.h"

namespace kernelskill::lsp {

void addCompileWorkerCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add("compile-worker", "Compiles kernels for the GPU");
    command.hide();
    command.whenChosen([&invocation] { invocation.run = engine::runCompileWorker; });
}

} // namespace kernelskill::lsp
