#include "lsp-server/commands/executor_option.h"

#include <CLI/CLI.hpp>

namespace kernelskill::lsp {

void addExecutorOptions(CLI::App& command, Invocation& invocation, std::string& executor,
                        const std::vector<std::string>& choices) {
    std::string list;
    for (const std::string& choice : choices)
        list += (list.empty() ? "" : &choice == &choices.back() ? " or " : ", ") + choice;
    command.add_option("--on", executor, "Where it runs: " + list)
        ->check(CLI::IsMember(choices))
        ->type_name("EXECUTOR");
    Options& options = invocation.options;
    constexpr const char* group = "With --on slurm (see kernelskill.slurm.* of the settings)";
    const auto add = [&](const char* name, auto& value, const char* what, const char* type) {
        command.add_option(name, value, what)
            ->group(group)
            ->type_name(type)
            ->allow_extra_args(false); // A list takes one word each time.
    };
    add("--partition", options.slurmPartition, "That is asked for a GPU", "NAME");
    add("--gres", options.slurmGres, "What a job is given (gpu:1)", "LIST");
    add("--time-limit", options.slurmTimeLimit, "Of a job (0:30:00)", "TIME");
    add("--account", options.slurmAccount, "That pays", "NAME");
    add("--slots", options.slurmSlots, "Jobs side by side (1)", "N");
    add("--srun-argument", options.slurmArguments, "One more option for srun; may be repeated",
        "OPTION");
    add("--slurm-runner", options.slurmRunner, "kernelskill-runner on the nodes", "PATH");
}

Options optionsOn(const std::string& executor, const Options& options) {
    Options chosen = options;
    if (executor == "emulator")
        chosen.gpuEnabled = false;
    if (executor == "gpu" || executor == "slurm")
        chosen.gpuOn = executor;
    return chosen;
}

} // namespace kernelskill::lsp
