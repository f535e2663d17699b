#include "engine/graph/read_program.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/report/program_json.h"
#include "lsp-server/report/program_text.h"

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include <memory>

namespace kernelskill::lsp {

namespace {

int runGraph(const std::string& file, const Invocation& invocation) {
    auto program = engine::graph::readProgram(file);
    if (!program) {
        // What cannot be read has one exit status, also where its kind is known and refused.
        program.error().kind = ErrorKind::InvalidInput;
        return reportError(program.error(), invocation);
    }
    if (invocation.json)
        printJson(programJson(*program, file));
    else
        fmt::print("{}", programText(*program, file));
    return exitDone;
}

} // namespace

void addGraphCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "graph",
        "Show a PyTorch program that torch.export.save wrote, and what is not taken of it");
    command.footer(
        "\nExamples:\n"
        "  kernelskill graph model.pt2\n"
        "  kernelskill graph model.pt2 --json\n"
        "\nArchives of PyTorch 2.6 to 2.11 are read: inputs, outputs, weights, and each "
        "node with its operator,\nthe types of its results and its module. Nothing of an "
        "archive is run.");
    addJsonFlag(command, invocation);
    const auto file = std::make_shared<std::string>();
    command.option(
        file.get(),
        {.name = "FILE", .help = "An archive of torch.export.save (.pt2)", .required = true});
    command.whenChosen([&invocation, file] {
        invocation.run = [&invocation, file] { return runGraph(*file, invocation); };
    });
}

} // namespace kernelskill::lsp
