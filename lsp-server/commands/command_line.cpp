#include "lsp-server/commands/command_line.h"

#include "analysis/source/json.h"
#include "engine/diagnosis/gpus.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/version.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

namespace kernelskill::lsp {

namespace {

constexpr const char* description =
    "KernelSkill: a language server for CUDA C++.\n"
    "It says what holds each kernel back and why, and offers edits that were compiled and checked\n"
    "against the original. It needs neither a GPU nor the CUDA toolkit.";

constexpr const char* footer =
    "\nExamples:\n"
    "  kernelskill check saxpy.cu                       show diagnostics, bottleneck and skills\n"
    "  kernelskill profile saxpy.cu                     run on the CPU emulator and count\n"
    "  kernelskill apply loop-unrolling saxpy.cu:12     show a verified edit as a diff\n"
    "  kernelskill verify saxpy.cu                      check your own change against git's HEAD\n"
    "  kernelskill optimize saxpy.cu                    try skills in rounds, keep what is better\n"
    "  kernelskill generate blur.cu:12                  write a first kernel from a host function\n"
    "  kernelskill check saxpy.cu -- -Iinclude -DN=64   pass nvcc's flags after `--`\n"
    "\nExit status: 0 done; 1 nothing found or improved; 2 wrong usage or unreadable input;\n"
    "3 something is missing (the message names it and the remedy).";

int exitStatusOf(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::InvalidInput:
        return exitWrongUsage;
    case ErrorKind::Missing:
        return exitMissing;
    case ErrorKind::Unsupported:
    case ErrorKind::Failed:
    case ErrorKind::Cancelled:
    case ErrorKind::Internal:
        break;
    }
    return exitNothingFound;
}

void addSharedOptions(CliCommand& program, Invocation& invocation) {
    program.option(&invocation.options.cudaPath,
                   {.name = "--cuda-path",
                    .placeholder = "DIR",
                    .help = "Folder of the CUDA toolkit whose headers are used"});
    program.flag(invocation.options.ignoreToolkit,
                 {.name = "--no-toolkit",
                  .help = "Use the built-in CUDA headers even if a toolkit is installed"});
    program.option(&invocation.options.hostCompiler,
                   {.name = "--host-compiler",
                    .placeholder = "PATH",
                    .help = "C++ compiler that builds kernels for the emulator"});
    program.option(&invocation.options.gpu,
                   {.name = "--gpu",
                    .placeholder = "NAME",
                    .help = "GPU that diagnosis, occupancy and roofline are estimated for (H200)",
                    .check =
                        [](const std::string& name) {
                            const auto& gpus = engine::builtinGpus();
                            if (!gpus || engine::gpuNamed(*gpus, name) != nullptr)
                                return std::string();
                            std::vector<std::string_view> known;
                            for (const engine::Gpu& gpu : *gpus)
                                known.push_back(gpu.name);
                            return fmt::format("'{}' is not in the table of GPUs; known are {}",
                                               name, fmt::join(known, ", "));
                        },
                    .whenGiven = [&invocation] { invocation.namesGpu = true; }});
    program.option(&invocation.logLevel,
                   {.name = "--log-level",
                    .placeholder = "LEVEL",
                    .help = "What is logged to standard error: trace, debug, info, warn, error, "
                            "off (warn)",
                    .choices = {"trace", "debug", "info", "warn", "error", "off"}});
}

} // namespace

void addJsonFlag(CliCommand& command, Invocation& invocation) {
    command.flag(
        invocation.json,
        {.name = "--json", .help = "Print one JSON document; lines and columns count from 0"});
}

std::string missingName(const std::string& name) {
    return name.empty() ? "it needs a name, such as saxpy" : "";
}

void addFileArgument(CliCommand& command, std::string& file) {
    command.option(&file, {.name = "FILE", .help = "The CUDA file", .required = true});
}

void printJson(const nlohmann::json& document) {
    fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

int reportError(const Error& error, const Invocation& invocation) {
    if (invocation.json)
        printJson(errorJson(error));
    const Terminal terminal(stderr);
    fmt::print(stderr, "{} {}\n", terminal.paint(Colour::Red, "error:"), error.what);
    if (!error.where.empty())
        fmt::print(stderr, "  at: {}\n", error.where);
    if (!error.remedy.empty())
        fmt::print(stderr, "  remedy: {}\n", error.remedy);
    return exitStatusOf(error.kind);
}

int runCommandLine(int argc, char** argv) {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    Invocation invocation;
    if (const auto separator = std::ranges::find(arguments, "--"); separator != arguments.end()) {
        invocation.options.fallbackFlags.assign(separator + 1, arguments.end());
        arguments.erase(separator, arguments.end());
    }
    const bool wantsJson = std::ranges::find(arguments, "--json") != arguments.end();

    CliCommand program = CliCommand::root("kernelskill", description);
    program.footer(footer);
    program.version(fmt::format("kernelskill {}", version));
    program.requireSubcommand();
    addSharedOptions(program, invocation);
    addLspCommand(program, invocation);
    addMcpCommand(program, invocation);
    addCheckCommand(program, invocation);
    addProfileCommand(program, invocation);
    addSkillsCommand(program, invocation);
    addApplyCommand(program, invocation);
    addVerifyCommand(program, invocation);
    addOptimizeCommand(program, invocation);
    addGenerateCommand(program, invocation);
    addRepairCommand(program, invocation);
    addAssemblyCommand(program, invocation);
    addNestCommand(program, invocation);
    addOccupancyCommand(program, invocation);
    addGraphCommand(program, invocation);
    addCaptureCommand(program, invocation);
    addCiCommand(program, invocation);
    addProgramCommand(program, invocation);
    addMemoryCommand(program, invocation);
    addTimelineCommand(program, invocation);
    addTrustCommand(program, invocation);
    addDoctorCommand(program, invocation);
    addConfigurationSchemaCommand(program, invocation);
    addEmulatorWorkerCommand(program, invocation);
    addCompileWorkerCommand(program, invocation);
    const CliCommand::ParseOutcome parsed = program.parse(std::move(arguments));
    if (parsed.exitStatus)
        return *parsed.exitStatus;
    if (!parsed.problem.empty()) {
        invocation.json = wantsJson;
        return reportError({ErrorKind::InvalidInput, parsed.problem, "",
                            "`kernelskill --help` lists what there is"},
                           invocation);
    }
    return invocation.run();
}

} // namespace kernelskill::lsp
