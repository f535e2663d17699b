/// The command line: what every subcommand shares.
#pragma once

#include "analysis/source/error.h"
#include "lsp-server/configuration/options.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace kernelskill::lsp {

/// design.md's exit statuses.
enum ExitStatus : int { exitDone = 0, exitNothingFound = 1, exitWrongUsage = 2, exitMissing = 3 };

/// Filled in while the arguments are parsed.
struct Invocation {
    Options options;   ///< --cuda-path, --no-toolkit, --host-compiler and what follows `--`.
    bool json = false; ///< --json of the chosen subcommand.
    std::string logLevel = "warn";
    std::function<int()> run; ///< The chosen subcommand.
};

void addLspCommand(CLI::App& app, Invocation& invocation);
void addCheckCommand(CLI::App& app, Invocation& invocation);
void addProfileCommand(CLI::App& app, Invocation& invocation);
void addSkillsCommand(CLI::App& app, Invocation& invocation);
void addApplyCommand(CLI::App& app, Invocation& invocation);
void addOptimizeCommand(CLI::App& app, Invocation& invocation);
void addGenerateCommand(CLI::App& app, Invocation& invocation);
void addRepairCommand(CLI::App& app, Invocation& invocation);
void addAssemblyCommand(CLI::App& app, Invocation& invocation);
void addCaptureCommand(CLI::App& app, Invocation& invocation);
void addAssemblyCommand(CLI::App& app, Invocation& invocation);
void addMemoryCommand(CLI::App& app, Invocation& invocation);
void addTimelineCommand(CLI::App& app, Invocation& invocation);
void addDoctorCommand(CLI::App& app, Invocation& invocation);
/// Hidden: they belong to other programs.
void addConfigurationSchemaCommand(CLI::App& app, Invocation& invocation);
void addEmulatorWorkerCommand(CLI::App& app, Invocation& invocation);
void addCompileWorkerCommand(CLI::App& app, Invocation& invocation);

/// The flag --json, described.
void addJsonFlag(CLI::App& command, Invocation& invocation);

/// One document on standard output.
void printJson(const nlohmann::json& document);
/// The error as the user asked to have it, and the exit status that its kind means.
int reportError(const Error& error, const Invocation& invocation);

/// Parses and runs. Returns the exit status.
[[nodiscard]] int runCommandLine(int argc, char** argv);

} // namespace kernelskill::lsp
