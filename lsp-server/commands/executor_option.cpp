#include "lsp-server/commands/executor_option.h"

namespace kernelskill::lsp {

void addExecutorOptions(CliCommand& command, Invocation& invocation, std::string& executor,
                        const std::vector<std::string>& choices) {
    std::string list;
    for (const std::string& choice : choices)
        list += (list.empty() ? "" : &choice == &choices.back() ? " or " : ", ") + choice;
    command.option(&executor, {.name = "--on",
                               .placeholder = "EXECUTOR",
                               .help = "Where kernels run: " + list,
                               .choices = choices});
    Options& options = invocation.options;
    const auto add = [&](const char* name, OptionTarget target, const char* help,
                         const char* placeholder) {
        command.option(target,
                       {.name = name,
                        .placeholder = placeholder,
                        .help = help,
                        .group = "With --on slurm (see kernelskill.slurm.* of the settings)"});
    };
    add("--partition", &options.slurmPartition, "Partition that has the GPUs", "NAME");
    add("--gres", &options.slurmGres, "Generic resources of each job (gpu:1)", "LIST");
    add("--time-limit", &options.slurmTimeLimit,
        "Time limit of each job, in Slurm's format (0:30:00)", "TIME");
    add("--account", &options.slurmAccount, "Account to charge", "NAME");
    add("--slots", &options.slurmSlots, "Max number of jobs at the same time (1)", "N");
    add("--srun-argument", &options.slurmArguments, "A further argument for srun; may be repeated",
        "ARGUMENT");
    add("--slurm-runner", &options.slurmRunner, "Path of kernelskill-runner on the nodes", "PATH");
}

void addSanitizerFlag(CliCommand& command, Invocation& invocation) {
    command.flag(invocation.options.gpuSanitizer,
                 {.name = "--compute-sanitizer",
                  .help = "On a GPU, check edits with NVIDIA's compute-sanitizer as well"});
}

Options optionsOn(const std::string& executor, const Options& options) {
    Options chosen = options;
    if (executor == "emulator")
        chosen.gpuEnabled = false;
    if (executor == "gpu" || executor == "slurm")
        chosen.gpuOn = executor;
    return chosen;
}

Result<bool> usesGpu(const std::string& executor, const engine::Workbench& workbench,
                     const std::stop_token& stop) {
    if (executor == "emulator")
        return false;
    const auto gpu = workbench.machines().gpu(stop);
    if (!gpu && !executor.empty() && executor != "auto")
        return std::unexpected(gpu.error());
    return gpu.has_value();
}

} // namespace kernelskill::lsp
