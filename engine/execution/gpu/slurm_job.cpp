#include "engine/execution/gpu/slurm_job.h"

#include "analysis/source/program_search.h"

#include <array>
#include <cstdlib>
#include <ranges>
#include <sstream>
#include <utility>

namespace kernelskill::engine::gpu {
namespace {

constexpr std::string_view timeLimitMark = "DUE TO TIME LIMIT";
constexpr std::string_view cancelledMark = "CANCELLED AT";
/// A message of srun itself. The node's own message with the reason comes before or after it, and
/// sometimes not at all.
constexpr std::string_view abortedMark = "Job step aborted";

/// A message of srun, its meaning, and a remedy.
struct Trouble {
    std::string_view mark;
    ErrorKind kind;
    std::string (*what)(const SlurmJob& job);
    std::string_view remedy;
};

std::string quoted(const std::string& text) {
    return "'" + text + "'";
}

/// The first mark that is found decides; more specific ones come first.
constexpr std::array troubles{
    Trouble{timeLimitMark, ErrorKind::Failed,
            [](const SlurmJob& job) {
                return "the Slurm job has reached its time limit" +
                       (job.timeLimit.empty() ? std::string() : " of " + job.timeLimit);
            },
            "raise kernelskill.slurm.timeLimit (--time-limit), or launch a smaller problem"},
    Trouble{"DUE TO PREEMPTION", ErrorKind::Failed,
            [](const SlurmJob&) { return std::string("the Slurm job was preempted by another"); },
            "try again, or choose another partition with kernelskill.slurm.partition"},
    Trouble{"DUE TO NODE FAILURE", ErrorKind::Failed,
            [](const SlurmJob&) { return std::string("the node of the Slurm job has failed"); },
            "try again; sinfo shows the state of the nodes"},
    Trouble{"invalid partition specified", ErrorKind::Missing,
            [](const SlurmJob& job) { return "Slurm has no partition " + quoted(job.partition); },
            "sinfo lists them; set kernelskill.slurm.partition (--partition)"},
    Trouble{"Invalid partition name", ErrorKind::Missing,
            [](const SlurmJob& job) { return "Slurm has no partition " + quoted(job.partition); },
            "sinfo lists them; set kernelskill.slurm.partition (--partition)"},
    Trouble{"No partition specified", ErrorKind::Missing,
            [](const SlurmJob&) { return std::string("Slurm has no default partition"); },
            "sinfo lists them; set kernelskill.slurm.partition (--partition)"},
    Trouble{"(gres)", ErrorKind::Missing,
            [](const SlurmJob& job) { return "Slurm has no " + quoted(job.gres) + " to give"; },
            "`sinfo -o %G` lists what there is; set kernelskill.slurm.gres (--gres)"},
    Trouble{"Invalid account", ErrorKind::Missing,
            [](const SlurmJob& job) {
                return "Slurm does not take the account " + quoted(job.account) +
                       " for this partition";
            },
            "`sacctmgr show associations` lists yours; set kernelskill.slurm.account (--account)"},
    Trouble{"Invalid --time specification", ErrorKind::InvalidInput,
            [](const SlurmJob& job) {
                return quoted(job.timeLimit) + " is not a time limit in Slurm's format";
            },
            "write minutes or hours:minutes:seconds in kernelskill.slurm.timeLimit (--time-limit)"},
    Trouble{"Requested time limit is invalid", ErrorKind::InvalidInput,
            [](const SlurmJob& job) {
                return "the partition does not allow a time limit of " + job.timeLimit;
            },
            "lower kernelskill.slurm.timeLimit (--time-limit)"},
    Trouble{"unrecognized option", ErrorKind::InvalidInput,
            [](const SlurmJob&) { return std::string("srun does not know one of its options"); },
            "correct kernelskill.slurm.arguments"},
    Trouble{"execve()", ErrorKind::Missing,
            [](const SlurmJob&) { return std::string("the node cannot start the runner"); },
            "install kernelskill on a file system that the nodes share, name the runner's place "
            "there with kernelskill.slurm.runner, or add --bcast=/tmp/ to "
            "kernelskill.slurm.arguments"},
    Trouble{"Unable to contact slurm controller", ErrorKind::Missing,
            [](const SlurmJob&) { return std::string("Slurm's controller does not answer"); },
            "look at `scontrol ping`"},
    Trouble{"Requested nodes are busy", ErrorKind::Failed,
            [](const SlurmJob&) { return std::string("no node of Slurm is free"); },
            "try later, or leave --immediate out of kernelskill.slurm.arguments"},
    Trouble{
        "Requested node configuration is not available", ErrorKind::Missing,
        [](const SlurmJob&) { return std::string("no node of Slurm has what the job requests"); },
        "compare kernelskill.slurm.gres, .partition and .arguments with `sinfo -o '%P %G %D'`"},
    Trouble{"has been cancelled", ErrorKind::Failed,
            [](const SlurmJob&) { return std::string("the Slurm job was cancelled"); },
            "try again"},
    Trouble{"has been revoked", ErrorKind::Failed,
            [](const SlurmJob&) { return std::string("the Slurm job was cancelled in the queue"); },
            "try again"},
    Trouble{cancelledMark, ErrorKind::Failed,
            [](const SlurmJob&) { return std::string("the Slurm job was cancelled"); },
            "try again"},
    Trouble{abortedMark, ErrorKind::Failed,
            [](const SlurmJob&) { return std::string("Slurm ended the job without a reason"); },
            "try again; it was cancelled, was preempted or has reached its time limit "
            "(kernelskill.slurm.timeLimit)"},
};

/// The lines without their sender.
std::vector<std::string> linesOf(std::string_view said) {
    std::vector<std::string> lines;
    std::istringstream stream{std::string(said)};
    for (std::string line; std::getline(stream, line);) {
        for (const std::string_view prefix : {"srun: ", "error: "}) {
            if (line.starts_with(prefix))
                line.erase(0, prefix.size());
        }
        if (!line.empty())
            lines.push_back(std::move(line));
    }
    return lines;
}

/// The last line that says more than that the task has ended.
std::string lastLine(const std::vector<std::string>& lines) {
    for (const std::string& line : std::views::reverse(lines)) {
        if (!line.contains(": task "))
            return line;
    }
    return lines.empty() ? std::string() : lines.back();
}

} // namespace

Result<std::vector<std::string>> srunWords(const SlurmJob& job) {
    const std::string name = job.srun.empty() ? "srun" : job.srun.string();
    const auto program = analysis::findProgram(name);
    if (!program)
        return std::unexpected(
            Error{ErrorKind::Missing,
                  "'" + name + "', which starts jobs on Slurm, was not found",
                  {},
                  "install Slurm's client commands (Debian: slurm-client), or set "
                  "kernelskill.slurm.srun"});
    // Unbuffered, because frames do not end with a line. Without --output, because with it srun
    // does not print the node's messages about the job.
    std::vector<std::string> words{program->string(),    "--job-name=kernelskill", "--nodes=1",
                                   "--ntasks=1",         "--unbuffered",           "--input=0",
                                   "--quit-on-interrupt"};
    const auto add = [&](std::string_view option, const std::string& value) {
        if (!value.empty())
            words.push_back(std::string(option) + value);
    };
    add("--partition=", job.partition);
    add("--gres=", job.gres);
    add("--time=", job.timeLimit);
    add("--account=", job.account);
    words.insert(words.end(), job.arguments.begin(), job.arguments.end());
    return words;
}

std::vector<std::string> slurmEnvironment() {
    std::vector<std::string> variables;
    // SLURM_JOB_ID: in the user's own allocation, the runner becomes a step of it.
    for (const char* name :
         {"SLURM_CONF", "SLURM_JOB_ID", "HOME", "USER", "LOGNAME", "PATH", "LD_LIBRARY_PATH"}) {
        if (const char* value = std::getenv(name); value != nullptr)
            variables.push_back(std::string(name) + "=" + value);
    }
    return variables;
}

std::optional<std::string> queueState(std::string_view line) {
    for (const std::string_view begin : {"srun: job ", "srun: Job "}) {
        if (!line.starts_with(begin))
            continue;
        line.remove_prefix(begin.size());
        const std::string job(line.substr(0, line.find(' ')));
        if (line.ends_with("queued and waiting for resources"))
            return "waiting in Slurm's queue, job " + job;
        if (line.ends_with("has been allocated resources"))
            return "Slurm starts job " + job;
        if (line.contains("step creation temporarily disabled"))
            return "waiting for other steps of Slurm's job " + job;
    }
    return std::nullopt;
}

Error slurmError(const SlurmJob& job, std::string_view said) {
    const auto lines = linesOf(said);
    for (const Trouble& trouble : troubles) {
        for (const std::string& line : lines) {
            if (line.contains(trouble.mark))
                return {trouble.kind, trouble.what(job), line, std::string(trouble.remedy)};
        }
    }
    const std::string line = lastLine(lines);
    return {ErrorKind::Failed,
            line.empty() ? "srun has ended without a message" : "srun has ended: " + line,
            {},
            "look at squeue and sinfo"};
}

bool wasEndedBySlurm(std::string_view said) {
    return said.contains(cancelledMark) || said.contains(abortedMark);
}

} // namespace kernelskill::engine::gpu
