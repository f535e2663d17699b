#include "analysis/source/json.h"
#include "engine/program/command_words.h"
#include "engine/program/workload_json.h"
#include "engine/program/workload_run.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/current_programs.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/workload_report.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <memory>
#include <unistd.h>

namespace kernelskill::lsp {
namespace {

using engine::Workload;
using engine::WorkspacePrograms;

struct ProgramArguments {
    std::string name;
    bool noBuild = false;
};

void printNotes(const WorkspacePrograms& programs) {
    for (const std::string& note : programs.notes)
        fmt::print(stderr, "note: {}\n", note);
}

void printWorkload(const Terminal& terminal, const Workload& workload, std::string_view mark) {
    const auto line = [&](std::string_view key, const std::string& value) {
        if (!value.empty())
            fmt::print("    {:<8} {}\n", terminal.paint(Colour::Dim, key), value);
    };
    fmt::print("{}{}\n", terminal.paint(Colour::Bold, workload.name), mark);
    line("command", engine::commandText(workload.command));
    line("folder", workload.folder.string());
    for (const auto& [name, value] : workload.environment)
        line("variable", name + "=" + value);
    line("build", engine::commandText(workload.build));
    line("check", engine::commandText(workload.check));
    line("pattern", workload.pattern);
    line("from", workload.origin);
}

int detect(const Invocation& invocation) {
    const auto programs = programsAt(currentPlace());
    printNotes(programs);
    if (invocation.json) {
        printJson(programsJson(programs));
    } else {
        const Terminal terminal(stdout);
        for (const Workload& workload : programs.workloads)
            printWorkload(terminal, workload, workload.name == programs.picked ? "  (picked)" : "");
        if (programs.workloads.empty())
            fmt::print(
                "no program was found; name one in .kernelskill/programs.json:\n"
                "  {{\"small\": {{\"command\": \"./program 1024\", \"build\": \"make\"}}}}\n");
    }
    return programs.workloads.empty() ? exitNothingFound : exitDone;
}

int show(const ProgramArguments& arguments, const Invocation& invocation) {
    const auto programs = programsAt(currentPlace());
    const auto workload = engine::chooseProgram(programs, arguments.name);
    if (!workload) {
        printNotes(programs);
        return reportError(workload.error(), invocation);
    }
    if (invocation.json)
        printJson(engine::workloadJson(*workload));
    else
        printWorkload(Terminal(stdout), *workload,
                      workload->name == programs.picked ? "  (picked)" : "");
    return exitDone;
}

int pick(const ProgramArguments& arguments, const Invocation& invocation) {
    const CurrentPlace place = currentPlace();
    if (!place.isOwn)
        return reportError(notOwn(place), invocation);
    const auto workload = engine::chooseProgram(programsAt(place), arguments.name);
    if (!workload)
        return reportError(workload.error(), invocation);
    if (const auto kept = engine::rememberProgram(place.root, workload->name); !kept)
        return reportError(kept.error(), invocation);
    if (invocation.json)
        printJson(engine::workloadJson(*workload));
    else
        fmt::print("picked {}\n", workloadTitle(*workload));
    return exitDone;
}

int run(const ProgramArguments& arguments, const Invocation& invocation) {
    const CurrentPlace place = currentPlace();
    if (!place.isOwn)
        return reportError(notOwn(place), invocation);
    const auto programs = programsAt(place);
    const auto workload = engine::chooseProgram(programs, arguments.name);
    if (!workload) {
        printNotes(programs);
        return reportError(workload.error(), invocation);
    }
    const Interruption interruption;
    engine::WorkloadRunOptions options;
    options.builds = !arguments.noBuild;
    options.onStep = [](std::string_view step, const std::vector<std::string>& command) {
        fmt::print(stderr, "{}: {}\n", step, engine::commandText(command));
    };
    options.onOutput = [&](int stream, std::string_view text) {
        // Standard output holds nothing but the document.
        std::FILE* to = stream == STDOUT_FILENO && !invocation.json ? stdout : stderr;
        std::fwrite(text.data(), 1, text.size(), to);
        std::fflush(to);
    };
    const auto done = engine::runWorkload(*workload, options, interruption.token());
    if (!done)
        return reportError(done.error(), invocation);
    if (invocation.json)
        printJson(workloadRunJson(*workload, *done));
    fmt::print(stderr, "{}\n", workloadRunText(*workload, *done));
    return done->failure ? exitNothingFound : exitDone;
}

} // namespace

void addProgramCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "program", "Find, show and run the programs that launch this workspace's kernels");
    command.requireSubcommand();
    command.footer(
        "\nExamples:\n"
        "  kernelskill program detect           from launch.json, tasks.json, makefiles, CMake\n"
        "  kernelskill program pick small       remember which one is meant, once\n"
        "  kernelskill program run              build it, run it, check its output\n"
        "\nPrograms of your own stand in .kernelskill/programs.json, or in the setting\n"
        "kernelskill.program of the editor:\n"
        "  {\"small\": {\"command\": \"./program 1024\", \"build\": \"make\", "
        "\"pattern\": \"^PASSED\"}}");
    const auto arguments = std::make_shared<ProgramArguments>();
    const auto add = [&](const char* name, const char* help, bool isNamed,
                         int (*run)(const ProgramArguments&, const Invocation&)) -> CliCommand& {
        CliCommand& child = command.add(name, help);
        addJsonFlag(child, invocation);
        if (isNamed)
            child.option(&arguments->name, {.name = "--name",
                                            .placeholder = "NAME",
                                            .help = "The program; the picked one, or the only one",
                                            .check = missingName});
        child.whenChosen([&invocation, arguments, run] {
            invocation.run = [&invocation, arguments, run] { return run(*arguments, invocation); };
        });
        return child;
    };
    add("detect", "List the programs that are set or found; runs nothing", false,
        [](const ProgramArguments&, const Invocation& given) { return detect(given); });
    add("show", "Show the program that is meant", true, show);
    CliCommand& picking = add("pick", "Remember which program is meant", false, pick);
    picking.option(&arguments->name, {.name = "NAME", .help = "The program", .required = true});
    CliCommand& running = add("run", "Build, run and check the program", true, run);
    running.flag(arguments->noBuild, {.name = "--no-build", .help = "Run what is built"});
}

} // namespace kernelskill::lsp
