/// --on, for commands that run kernels, the options of a cluster, and --compute-sanitizer.
#pragma once

#include "lsp-server/commands/command_line.h"

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

} // namespace kernelskill::lsp
