/// --on, for commands that run kernels, the options of a cluster, and --compute-sanitizer.
#pragma once

#include "engine/workbench/workbench.h"
#include "lsp-server/commands/command_line.h"

#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// `executor` gets what --on says, one of `choices`. The others set what they are called after in
/// the settings: --partition, --gres, --time-limit, --account, --slots, --srun-argument.
void addExecutorOptions(CliCommand& command, Invocation& invocation, std::string& executor,
                        const std::vector<std::string>& choices);

/// --compute-sanitizer, for commands that review edits.
void addSanitizerFlag(CliCommand& command, Invocation& invocation);

/// The settings for a run on `executor`: "emulator" measures nothing, "gpu" is this machine,
/// "slurm" a cluster; anything else leaves it to the settings.
[[nodiscard]] Options optionsOn(const std::string& executor, const Options& options);

/// Whether kernels run on the GPU: it is asked for, or `executor` ("auto" or empty) leaves it open
/// and there is one. The error says why there is none although it is asked for.
[[nodiscard]] Result<bool> usesGpu(const std::string& executor, const engine::Workbench& workbench,
                                   const std::stop_token& stop);

} // namespace kernelskill::lsp
