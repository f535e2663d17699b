#include "analysis/nest/nest.h"

#include "analysis/nest/dependences.h"
#include "analysis/nest/nest_text.h"
#include "analysis/source/json.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/kernel_option.h"
#include "lsp-server/report/nest_json.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace kernelskill::lsp {

namespace {

struct NestArguments {
    KernelArguments kernel;
    bool dependences = false;
};

int runNest(const NestArguments& arguments, const Invocation& invocation) {
    const auto opened = openPlace(arguments.kernel, invocation.options);
    if (!opened)
        return reportError(opened.error(), invocation);
    const analysis::FileModel& file = opened->snapshot->model();
    std::vector<const analysis::KernelModel*> kernels;
    if (!opened->namesKernel() && !file.kernels.empty()) {
        for (const analysis::KernelModel& kernel : file.kernels)
            kernels.push_back(&kernel);
    } else {
        const auto kernel = opened->chosen();
        if (!kernel)
            return reportError(kernel.error(), invocation);
        kernels.push_back(*kernel);
    }
    analysis::Polyhedra polyhedra;
    nlohmann::json document = nlohmann::json::array();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const std::shared_ptr<const analysis::Nest> kept = analysis::nestOf(file, *kernels[i]);
        const analysis::Nest& nest = *kept;
        std::optional<analysis::NestDependences> dependences;
        if (arguments.dependences)
            dependences = analysis::dependencesOf(nest, polyhedra);
        if (invocation.json) {
            document.push_back(nestJson(nest, file, *kernels[i]));
            if (dependences)
                document.back()["dependences"] = dependencesJson(nest, *dependences);
            continue;
        }
        fmt::print("{}{}", i > 0 ? "\n" : "", analysis::nestText(nest, file, *kernels[i]));
        if (dependences)
            fmt::print("{}", analysis::dependencesText(nest, *dependences));
    }
    const auto errors = std::ranges::count(file.diagnostics, analysis::Severity::Error,
                                           &analysis::Diagnostic::severity);
    if (invocation.json)
        printJson({{"file", file.file}, {"errors", errors}, {"kernels", std::move(document)}});
    else if (errors > 0)
        fmt::print(stderr, "the file has {} error{}: what is around is not understood\n", errors,
                   errors == 1 ? "" : "s");
    return exitDone;
}

} // namespace

void addNestCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "nest",
        "Show kernels as loop nests: loops, guards, phases, and what each statement accesses");
    command.footer(
        "\nExamples:\n"
        "  kernelskill nest transpose.cu       every kernel of the file\n"
        "  kernelskill nest transpose.cu:7     the kernel at a line\n"
        "  kernelskill nest --dependences transpose.cu\n"
        "\nIndices are followed through variables, moved pointers and calls, and split into "
        "dimensions where loops\nand guards allow it. What is not understood says why. Nothing is "
        "compiled or run.");
    addJsonFlag(command, invocation);
    const auto arguments = std::make_shared<NestArguments>();
    addKernelArguments(command, arguments->kernel, "all of the file by default");
    command.flag(
        arguments->dependences,
        {.name = "--dependences",
         .help = "Show as well which accesses have to stay in order, and what is independent"});
    command.whenChosen([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return runNest(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
