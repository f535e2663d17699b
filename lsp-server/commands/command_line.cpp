#include "lsp-server/commands/command_line.h"

#include "engine/diagnosis/gpus.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/version.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

namespace kernelskill::lsp {

namespace {

constexpr const char* description =
    "KernelSkill: a language server for CUDA C++.\n"
    "Says what holds each kernel back and why, and offers edits that were compiled and checked\n"
    "against the original first. Needs neither a GPU nor the CUDA toolkit.";

constexpr const char* footer =
    "\nExamples:\n"
    "  kernelskill check saxpy.cu                       diagnostics, bottleneck, skills that fit\n"
    "  kernelskill profile saxpy.cu                     run on the CPU emulator and count\n"
    "  kernelskill apply loop-unrolling saxpy.cu:12     a verified edit, as a diff\n"
    "  kernelskill optimize saxpy.cu                    round after round, keeps what is better\n"
    "  kernelskill generate blur.cu:12                  a first kernel from a host function\n"
    "  kernelskill check saxpy.cu -- -Iinclude -DN=64   flags as nvcc takes them, after `--`\n"
    "\nExit status: 0 done; 1 nothing found or improved; 2 wrong usage or unreadable input;\n"
    "3 something needed is missing (it is named, with the remedy).";

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

/// Flags that set options for all subcommands; they may stand before or after the subcommand's
/// name.
void addSharedFlags(CLI::App& app, Invocation& invocation) {
    app.add_option("--cuda-path", invocation.options.cudaPath,
                   "The CUDA toolkit whose headers are used")
        ->type_name("DIR");
    app.add_flag("--no-toolkit", invocation.options.ignoreToolkit,
                 "Use the built-in CUDA headers even where a toolkit is installed");
    app.add_option("--host-compiler", invocation.options.hostCompiler,
                   "C++ compiler that builds kernels for the emulator")
        ->type_name("PATH");
    app.add_option("--gpu", invocation.options.gpu,
                   "The GPU that the diagnosis, occupancy and the roofline are for (H200)")
        ->check([](const std::string& name) {
            const auto& gpus = engine::builtinGpus();
            if (!gpus || engine::gpuNamed(*gpus, name) != nullptr)
                return std::string();
            std::vector<std::string_view> known;
            for (const engine::Gpu& gpu : *gpus)
                known.push_back(gpu.name);
            return fmt::format("no numbers are known of a '{}'; there are {}", name,
                               fmt::join(known, ", "));
        })
        ->type_name("NAME");
    app.add_option("--log-level", invocation.logLevel,
                   "What goes to standard error: trace, debug, info, warn, error, off")
        ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}))
        ->type_name("LEVEL");
}

} // namespace

void addJsonFlag(CLI::App& command, Invocation& invocation) {
    command.add_flag("--json", invocation.json,
                     "One JSON document on standard output; lines and columns count from 0");
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

    CLI::App app(description, "kernelskill");
    app.footer(footer);
    app.set_version_flag("--version", fmt::format("kernelskill {}", version));
    app.require_subcommand(1);
    app.fallthrough();
    addSharedFlags(app, invocation);
    addLspCommand(app, invocation);
    addCheckCommand(app, invocation);
    addProfileCommand(app, invocation);
    addSkillsCommand(app, invocation);
    addApplyCommand(app, invocation);
    addOptimizeCommand(app, invocation);
    addGenerateCommand(app, invocation);
    addRepairCommand(app, invocation);
    addAssemblyCommand(app, invocation);
    addCaptureCommand(app, invocation);
    addMemoryCommand(app, invocation);
    addTimelineCommand(app, invocation);
    addDoctorCommand(app, invocation);
    addConfigurationSchemaCommand(app, invocation);
    addEmulatorWorkerCommand(app, invocation);
    addCompileWorkerCommand(app, invocation);
    try {
        std::ranges::reverse(arguments); // CLI11 takes them last first.
        app.parse(std::move(arguments));
    } catch (const CLI::Success& answered) {
        return app.exit(answered); // --help, --version
    } catch (const CLI::ParseError& problem) {
        invocation.json = wantsJson;
        // CLI11 misses the subcommand before it looks at what stands in its place.
        const std::vector<std::string> rest =
            app.get_subcommands().empty() ? app.remaining() : std::vector<std::string>{};
        const std::string what =
            rest.empty() ? problem.what() : fmt::format("no subcommand '{}'", rest.front());
        return reportError(
            {ErrorKind::InvalidInput, what, "", "`kernelskill --help` lists what there is"},
            invocation);
    }
    return invocation.run();
}

} // namespace kernelskill::lsp
