#include "engine/graph/lowering/raised.h"
#include "engine/graph/read_program.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/report/program_json.h"
#include "lsp-server/report/program_text.h"

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include <memory>

namespace kernelskill::lsp {

namespace {

int runGraph(const std::string& file, bool isRaised, const Invocation& invocation) {
    auto program = engine::graph::readProgram(file);
    if (!program) {
        // Files that cannot be read have one exit status, also those of a kind that is refused.
        program.error().kind = ErrorKind::InvalidInput;
        return reportError(program.error(), invocation);
    }
    if (isRaised) {
        const auto raised = engine::graph::raised(*program);
        if (!raised)
            return reportError(raised.error(), invocation);
        fmt::print("{}", textOf(raised->program));
        return exitDone;
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
        "  kernelskill graph model.pt2 --raised\n"
        "\nArchives of PyTorch 2.6 to 2.11 are read: inputs, outputs, weights, and each "
        "node with its operator,\nthe types of its results and its module. Nothing of an "
        "archive is run.");
    addJsonFlag(command, invocation);
    const auto file = std::make_shared<std::string>();
    command.option(
        file.get(),
        {.name = "FILE", .help = "An archive of torch.export.save (.pt2)", .required = true});
    const auto isRaised = std::make_shared<bool>(false);
    command.flag(*isRaised, {.name = "--raised",
                             .help = "Print it as loops over elements, as kernels are made of it",
                             .excludes = "--json"});
    command.whenChosen([&invocation, file, isRaised] {
        invocation.run = [&invocation, file, isRaised] {
            return runGraph(*file, *isRaised, invocation);
        };
    });
}

} // namespace kernelskill::lsp
