#include "engine/static_facts/compile_worker.h"

#include "lsp-server/commands/command_line.h"

#include <CLI/CLI.hpp>

namespace kernelskill::lsp {

void addCompileWorkerCommand(CLI::App& app, Invocation& invocation) {
    CLI::App* command = app.add_subcommand("compile-worker", "Compiles kernels for the GPU");
    command->group("");
    command->callback([&invocation] { invocation.run = engine::runCompileWorker; });
}

} // namespace kernelskill::lsp
