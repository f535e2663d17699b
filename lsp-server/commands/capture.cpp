#include "analysis/source/json.h"
#include "engine/capture/capture_store.h"
#include "engine/storage/size_text.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/commands/user_program.h"
#include "lsp-server/program/injected_run.h"
#include "lsp-server/workspace/workspace_root.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

namespace kernelskill::lsp {
namespace {

namespace fs = std::filesystem;
using engine::CapturedParameter;
using engine::StoredCaptures;
using engine::StoredLaunch;
using nlohmann::json;

struct CaptureArguments {
    std::uint32_t launches = 1;
    std::vector<std::string> kernels;
    std::uint64_t bufferMebibytes = 64;
    std::uint64_t totalMebibytes = 1024;
};

/// The captures of the workspace that the current folder belongs to.
fs::path captureFolder() {
    std::error_code ignored;
    return workspaceRootOf(fs::current_path(ignored) / "program") / ".kernelskill" / "captures";
}

json parameterJson(const CapturedParameter& parameter) {
    json result{{"bytes", parameter.value.size()}};
    if (parameter.buffer) {
        result["buffer"] = {{"bytes", parameter.buffer->bytes},
                            {"before", parameter.buffer->before},
                            {"after", parameter.buffer->after}};
        if (!parameter.buffer->missing.empty())
            result["buffer"]["missing"] = parameter.buffer->missing;
    }
    return result;
}

json launchJson(const StoredLaunch& stored) {
    const auto& launch = stored.launch;
    json parameters = json::array();
    for (const CapturedParameter& parameter : launch.parameters)
        parameters.push_back(parameterJson(parameter));
    json result{{"kernel", stored.kernel.qualifiedName},
                {"template_arguments", stored.kernel.templateArguments},
                {"symbol", launch.symbol},
                {"launch", launch.ordinal},
                {"program", launch.program},
                {"time", launch.time},
                {"device", launch.device},
                {"grid", launch.grid},
                {"block", launch.block},
                {"shared_bytes", launch.sharedBytes},
                {"parameters", std::move(parameters)},
                {"manifest", stored.manifest.string()}};
    if (!launch.missing.empty())
        result["missing"] = launch.missing;
    return result;
}

json capturesJson(const StoredCaptures& captures) {
    json launches = json::array();
    for (const StoredLaunch& stored : captures.launches)
        launches.push_back(launchJson(stored));
    return launches;
}

std::string nameOf(const StoredLaunch& stored) {
    const auto& arguments = stored.kernel.templateArguments;
    return stored.kernel.qualifiedName +
           (arguments.empty() ? "" : fmt::format("<{}>", fmt::join(arguments, ", ")));
}

/// The size on disk, where equal data is kept once.
std::uint64_t dataBytes(const StoredCaptures& captures) {
    std::set<std::string> files;
    std::uint64_t bytes = 0;
    for (const StoredLaunch& stored : captures.launches) {
        for (const CapturedParameter& parameter : stored.launch.parameters) {
            if (!parameter.buffer)
                continue;
            for (const auto* file : {&parameter.buffer->before, &parameter.buffer->after})
                if (!file->empty() && files.insert(*file).second)
                    bytes += parameter.buffer->bytes;
        }
    }
    return bytes;
}

void printLaunches(std::FILE* stream, const StoredCaptures& captures) {
    const Terminal terminal(stream);
    for (const StoredLaunch& stored : captures.launches) {
        const auto& launch = stored.launch;
        fmt::print(stream, "{}  launch {}, grid {}, block {}  {}\n",
                   terminal.paint(Colour::Bold, nameOf(stored)), launch.ordinal,
                   fmt::join(launch.grid, "x"), fmt::join(launch.block, "x"),
                   terminal.paint(Colour::Dim, launch.program + ", " + launch.time));
        if (!launch.missing.empty())
            fmt::print(stream, "    not usable: {}\n", launch.missing);
        for (std::size_t i = 0; i < launch.parameters.size(); ++i) {
            const auto& buffer = launch.parameters[i].buffer;
            if (buffer && !buffer->missing.empty())
                fmt::print(stream, "    parameter {}, {}: no data, {}\n", i + 1,
                           engine::sizeText(buffer->bytes), buffer->missing);
        }
    }
}

int runCapture(const CaptureArguments& arguments, const Invocation& invocation) {
    const auto& words = invocation.options.fallbackFlags;
    if (words.empty())
        return reportError({ErrorKind::InvalidInput, "no program to run", "capture",
                            "put it behind `--`: kernelskill capture -- ./program arguments"},
                           invocation);
    const auto folder = captureFolder();
    engine::Recording recording;
    recording.program = fmt::format("{}", fmt::join(words, " "));
    recording.kernels = arguments.kernels;
    recording.launches = arguments.launches;
    recording.bufferBytes = arguments.bufferMebibytes << 20;
    recording.totalBytes = arguments.totalMebibytes << 20;
    const auto recorded =
        recordCaptures(folder, std::move(recording), invocation.options, [&](const auto& added) {
            return runUserProgram({words, added, {}, invocation.json});
        });
    if (!recorded)
        return reportError(recorded.error(), invocation);
    const int status = recorded->status;
    const StoredCaptures& captures = recorded->captures;
    for (const Error& problem : captures.problems)
        fmt::print(stderr, "warning: {}\n", problem.describe());
    if (invocation.json)
        printJson({{"program", words}, {"status", status}, {"launches", capturesJson(captures)}});
    if (captures.launches.empty()) {
        fmt::print(stderr, "kernelskill: nothing was captured: {}\n",
                   recorded->isAttached
                       ? "no kernel that was asked for was launched"
                       : "the program did not start the CUDA driver, or see above");
        return status != 0 ? status : exitNothingFound;
    }
    fmt::print(stderr, "kernelskill: captured {} launch{}, {}, in {}\n", captures.launches.size(),
               captures.launches.size() == 1 ? "" : "es", engine::sizeText(dataBytes(captures)),
               folder.string());
    if (!invocation.json)
        printLaunches(stderr, captures);
    return status;
}

int list(const Invocation& invocation) {
    const auto captures = engine::readCaptures(captureFolder());
    for (const Error& problem : captures.problems)
        fmt::print(stderr, "warning: {}\n", problem.describe());
    if (invocation.json)
        printJson({{"folder", captureFolder().string()}, {"launches", capturesJson(captures)}});
    else if (captures.launches.empty())
        fmt::print("nothing is captured in {}\n", captureFolder().string());
    else
        printLaunches(stdout, captures);
    return captures.launches.empty() ? exitNothingFound : exitDone;
}

int clear(const Invocation& invocation) {
    const auto count = engine::clearCaptures(captureFolder());
    if (!count)
        return reportError(count.error(), invocation);
    if (invocation.json)
        printJson({{"removed", *count}});
    else
        fmt::print("removed {} launch{}\n", *count, *count == 1 ? "" : "es");
    return exitDone;
}

} // namespace

void addCaptureCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "capture", "Run a CUDA program and keep the arguments of its kernels as test inputs");
    command.footer(
        "\nExamples:\n"
        "  kernelskill capture -- ./program arguments\n"
        "  kernelskill capture --kernel softmax --launches 3 -- python3 train.py\n"
        "  kernelskill capture list\n"
        "\nFrom then on every check, profile and timing of these kernels in this workspace uses "
        "the captured data,\n"
        "unless a launch is pinned. The data is kept in .kernelskill/captures/; capturing a "
        "program again replaces\n"
        "it. The exit status is the program's. Needs a GPU and a driver for CUDA 12.4 or newer.");
    const auto arguments = std::make_shared<CaptureArguments>();
    addJsonFlag(command, invocation);
    command.option(&arguments->launches, {.name = "--launches",
                                          .placeholder = "N",
                                          .help = "Launches to capture of each kernel (1)",
                                          .range = {{1, 1000}}});
    command.option(&arguments->kernels,
                   {.name = "--kernel",
                    .placeholder = "NAME",
                    .help = "Capture only kernels whose name contains NAME; may be repeated",
                    .check = missingName});
    command.option(&arguments->bufferMebibytes,
                   {.name = "--buffer-limit",
                    .placeholder = "MIB",
                    .help = "Leave out the data of buffers larger than this, in MiB (64)",
                    .range = {{1, 1 << 20}}});
    command.option(&arguments->totalMebibytes, {.name = "--limit",
                                                .placeholder = "MIB",
                                                .help = "Max data in all, in MiB (1024)",
                                                .range = {{1, 1 << 20}}});
    command.whenChosen([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return runCapture(*arguments, invocation); };
    });
    CliCommand& listing = command.add("list", "List what is captured in this workspace");
    addJsonFlag(listing, invocation);
    listing.whenChosen(
        [&invocation] { invocation.run = [&invocation] { return list(invocation); }; });
    CliCommand& clearing = command.add("clear", "Delete everything captured in this workspace");
    addJsonFlag(clearing, invocation);
    clearing.whenChosen(
        [&invocation] { invocation.run = [&invocation] { return clear(invocation); }; });
}

} // namespace kernelskill::lsp
