/// The command line: what every subcommand shares.
#pragma once

#include "analysis/source/error.h"
#include "lsp-server/commands/cli_command.h"
#include "lsp-server/configuration/options.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>

namespace kernelskill::lsp {

/// The program's exit statuses; the same for every subcommand.
enum ExitStatus : int { exitDone = 0, exitNothingFound = 1, exitWrongUsage = 2, exitMissing = 3 };

/// Filled in while the arguments are parsed.
struct Invocation {
    Options options;       ///< --cuda-path, --no-toolkit, --host-compiler and what follows `--`.
    bool namesGpu = false; ///< --gpu was given.
    bool json = false;     ///< --json of the chosen subcommand.
    std::string logLevel = "warn";
    std::function<int()> run; ///< The chosen subcommand.
};

void addLspCommand(CliCommand& program, Invocation& invocation);
void addMcpCommand(CliCommand& program, Invocation& invocation);
void addCheckCommand(CliCommand& program, Invocation& invocation);
void addProfileCommand(CliCommand& program, Invocation& invocation);
void addSkillsCommand(CliCommand& program, Invocation& invocation);
void addApplyCommand(CliCommand& program, Invocation& invocation);
void addVerifyCommand(CliCommand& program, Invocation& invocation);
void addOptimizeCommand(CliCommand& program, Invocation& invocation);
void addGenerateCommand(CliCommand& program, Invocation& invocation);
void addRepairCommand(CliCommand& program, Invocation& invocation);
void addAssemblyCommand(CliCommand& program, Invocation& invocation);
void addNestCommand(CliCommand& program, Invocation& invocation);
void addOccupancyCommand(CliCommand& program, Invocation& invocation);
void addGraphCommand(CliCommand& program, Invocation& invocation);
void addCaptureCommand(CliCommand& program, Invocation& invocation);
void addCiCommand(CliCommand& program, Invocation& invocation);
void addProgramCommand(CliCommand& program, Invocation& invocation);
void addMemoryCommand(CliCommand& program, Invocation& invocation);
void addTrustCommand(CliCommand& program, Invocation& invocation);
void addTimelineCommand(CliCommand& program, Invocation& invocation);
void addDoctorCommand(CliCommand& program, Invocation& invocation);
/// Hidden from --help: other programs call them.
void addConfigurationSchemaCommand(CliCommand& program, Invocation& invocation);
void addEmulatorWorkerCommand(CliCommand& program, Invocation& invocation);
void addCompileWorkerCommand(CliCommand& program, Invocation& invocation);

void addJsonFlag(CliCommand& command, Invocation& invocation);
/// Why `name` names nothing; empty if it may. For an option's check.
[[nodiscard]] std::string missingName(const std::string& name);
/// The required argument FILE.
void addFileArgument(CliCommand& command, std::string& file);

/// One document on standard output.
void printJson(const nlohmann::json& document);
/// The error as the user asked to have it, and the exit status that its kind means.
int reportError(const Error& error, const Invocation& invocation);

/// Parses and runs. Returns the exit status.
[[nodiscard]] int runCommandLine(int argc, char** argv);

} // namespace kernelskill::lsp
