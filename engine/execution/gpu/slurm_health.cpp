#include "engine/execution/gpu/slurm_health.h"

#include "analysis/source/program_search.h"
#include "engine/process/child_process.h"

#include <chrono>
#include <sstream>
#include <utility>
#include <vector>

namespace kernelskill::engine::gpu {
namespace {

constexpr std::chrono::seconds answerTime{10};

/// The output of a Slurm command.
Result<std::string> ask(const std::filesystem::path& program, std::vector<std::string> arguments,
                        std::stop_token stop) {
    ChildCommand command;
    command.program = "/usr/bin/env"; // With the variables that name the cluster.
    command.arguments = slurmEnvironment();
    command.arguments.push_back(program.string());
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    command.time = answerTime;
    auto outcome = runChild(command, std::move(stop));
    if (!outcome)
        return std::unexpected(outcome.error());
    if (outcome->status != 0)
        return std::unexpected(Error{ErrorKind::Missing, "Slurm does not answer",
                                     outcome->messages.substr(0, outcome->messages.find('\n')),
                                     "look at `scontrol ping` and $SLURM_CONF"});
    return std::move(outcome->output);
}

} // namespace

Result<SlurmHealth> slurmHealth(const SlurmJob& job, std::stop_token stop) {
    const auto words = srunWords(job);
    if (!words)
        return std::unexpected(words.error());
    const std::filesystem::path srun = words->front();
    auto version = ask(srun, {"--version"}, stop);
    if (!version)
        return std::unexpected(version.error());
    auto beside = srun.parent_path() / "sinfo";
    if (!analysis::findProgram(beside.string()))
        beside = analysis::findProgram("sinfo").value_or(beside);
    std::vector<std::string> arguments{"--noheader", "--format=%P (%D nodes, %G)"};
    if (!job.partition.empty())
        arguments.push_back("--partition=" + job.partition);
    const auto listed = ask(beside, std::move(arguments), std::move(stop));
    if (!listed)
        return std::unexpected(listed.error().kind == ErrorKind::Failed // It took too long.
                                   ? Error{ErrorKind::Missing,
                                           "Slurm's controller does not answer",
                                           {},
                                           "look at `scontrol ping` and $SLURM_CONF"}
                                   : listed.error());
    SlurmHealth health;
    health.version = version->substr(0, version->find('\n'));
    std::istringstream lines(*listed);
    for (std::string line; std::getline(lines, line);)
        health.partitions += (health.partitions.empty() ? "" : ", ") + line;
    if (health.partitions.empty())
        return std::unexpected(Error{ErrorKind::Missing,
                                     job.partition.empty()
                                         ? "Slurm has no partition"
                                         : "Slurm has no partition '" + job.partition + "'",
                                     {},
                                     "sinfo lists them; set kernelskill.slurm.partition"});
    return health;
}

} // namespace kernelskill::engine::gpu
