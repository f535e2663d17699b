#include "analysis/raise/fusion.h"
#include "analysis/source/json.h"
#include "engine/graph/lowering/raised.h"
#include "engine/graph/read_program.h"
#include "engine/graph/simplify/simplification.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/report/program_json.h"
#include "lsp-server/report/program_text.h"

#include <spdlog/fmt/fmt.h>

#include <memory>
#include <utility>

namespace kernelskill::lsp {

namespace {

struct Form {
    bool isRaised = false;
    bool isFused = false;
    bool isSimplified = false;
};

/// Prints the program and what was simplified in it.
void printSimplified(const engine::graph::Program& graph, analysis::raise::Program program) {
    const engine::graph::SimplifiedProgram result =
        engine::graph::simplified(std::move(program), {{}, engine::graph::heldConstants(graph)});
    fmt::print("{}", textOf(result.program));
    for (const engine::graph::Simplification& one : result.simplifications)
        fmt::print("simplified {}: {}, because {}{}{}\n", one.name, one.what, one.condition,
                   one.reordersSums ? "; results differ by rounding" : "",
                   one.needsFiniteInputs ? "; as long as all numbers are finite" : "");
    for (const auto& [buffer, value] : result.constantOutputs)
        fmt::print("constant {} is {} whatever the inputs\n", result.program.buffers[buffer].name,
                   value);
}

int runGraph(const std::string& file, const Form& form, const Invocation& invocation) {
    auto program = engine::graph::readProgram(file);
    if (!program) {
        // Files that cannot be read have one exit status, also those of a kind that is refused.
        program.error().kind = ErrorKind::InvalidInput;
        return reportError(program.error(), invocation);
    }
    if (form.isRaised || form.isFused || form.isSimplified) {
        auto raised = engine::graph::raised(*program);
        if (!raised)
            return reportError(raised.error(), invocation);
        if (form.isSimplified) {
            printSimplified(*program, std::move(raised->program));
            return exitDone;
        }
        if (form.isFused)
            raised->program = analysis::raise::fused(std::move(raised->program));
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
        "  kernelskill graph model.pt2 --fused\n"
        "  kernelskill graph model.pt2 --simplified\n"
        "\nArchives of PyTorch 2.6 to 2.11 are read: inputs, outputs, weights, and each "
        "node with its operator,\nthe types of its results and its module. Nothing of an "
        "archive is run.");
    addJsonFlag(command, invocation);
    const auto file = std::make_shared<std::string>();
    command.option(
        file.get(),
        {.name = "FILE", .help = "An archive of torch.export.save (.pt2)", .required = true});
    const auto form = std::make_shared<Form>();
    command.flag(form->isRaised, {.name = "--raised",
                                  .help = "Print it as loops over elements, one for each operator",
                                  .excludes = "--json"});
    command.flag(form->isFused,
                 {.name = "--fused",
                  .help = "Print these loops put together, as kernels are made of them",
                  .excludes = "--json"});
    command.flag(form->isSimplified,
                 {.name = "--simplified",
                  .help = "Print these loops simplified as well, and what was simplified",
                  .excludes = "--json"});
    command.whenChosen([&invocation, file, form] {
        invocation.run = [&invocation, file, form] { return runGraph(*file, *form, invocation); };
    });
}

} // namespace kernelskill::lsp
