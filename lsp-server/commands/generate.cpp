#include "analysis/source/json.h"
#include "engine/workbench/kernel_generation.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/judged_edit.h"
#include "lsp-server/commands/model_generation.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/json_report.h"
#include "skills/skill_document.h"

#include <spdlog/fmt/fmt.h>

#include <memory>
#include <stop_token>

namespace kernelskill::lsp {

namespace {

struct GenerateArguments {
    std::string place;
    bool write = false;
    ModelGeneration model; ///< Set if `place` is an archive.
};

/// The function at the line, else the only one there is.
Result<const analysis::KernelModel*> chooseFunction(const Snapshot& snapshot,
                                                    std::optional<std::uint32_t> line) {
    const analysis::FileModel& model = snapshot.model();
    if (line) {
        const analysis::Span span = snapshot.source().lineSpan(*line);
        for (const analysis::KernelModel& function : model.loopFunctions)
            if (function.span.begin <= span.end && span.begin <= function.span.end)
                return &function;
    } else if (model.loopFunctions.size() == 1) {
        return &model.loopFunctions.front();
    }
    std::string names;
    for (const analysis::KernelModel& function : model.loopFunctions)
        names += fmt::format(
            "{}{}:{} {}", names.empty() ? "there are " : ", ", snapshot.model().file,
            snapshot.source().lineColumn(function.nameSpan.begin).line + 1, function.name);
    if (names.empty())
        return std::unexpected(Error{
            ErrorKind::Failed, "the file has no host function with loops over arrays", "", ""});
    return std::unexpected(Error{ErrorKind::InvalidInput,
                                 line ? "no host function with loops over arrays at that line"
                                      : "several host functions have loops over arrays",
                                 "", names});
}

void printKernel(const engine::GeneratedKernel& generated) {
    const Terminal terminal(stdout);
    printChecked(terminal, generated.diff, generated.verdict);
    fmt::print("\n{}\n", generated.why);
    printVerdict(terminal, generated.verdict, generated.acceptable());
}

int runGenerate(const GenerateArguments& arguments, const Invocation& invocation) {
    if (isProgramArchive(arguments.place))
        return generateModel(arguments.place, arguments.model, invocation);
    const auto place = parseFilePlace(arguments.place);
    if (!place)
        return reportError(place.error(), invocation);
    const auto opened = openInput(place->file, invocation.options);
    if (!opened)
        return reportError(opened.error(), invocation);
    const Snapshot& snapshot = **opened;
    const auto function = chooseFunction(snapshot, place->line);
    if (!function)
        return reportError(function.error(), invocation);
    const auto generated = engine::generateKernel(
        snapshot.workbench->machines(), {snapshot.program, **function}, std::stop_token{}, {});
    if (!generated && generated.error().kind == ErrorKind::Unsupported)
        return reportNotOffered(generated.error(),
                                {{"function", (*function)->name}, {"kernel", nullptr}}, invocation);
    if (!generated)
        return reportError(generated.error(), invocation);
    TextLookup texts(snapshot.program);
    if (invocation.json)
        printJson({{"function", generated->reference},
                   {"kernel", generated->kernel},
                   {"why", generated->why},
                   {"numerics", skills::spelling(generated->numerics)},
                   {"edits", editsJson(generated->edits, snapshot.program.file, texts,
                                       PositionEncoding::Utf16)},
                   {"verdict", verdictJson(generated->verdict)},
                   {"diff", generated->diff}});
    else
        printKernel(*generated);
    return finishEdit({generated->edits, generated->verdict, generated->acceptable(), "the kernel"},
                      place->file, texts, arguments.write, invocation);
}

} // namespace

void addGenerateCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "generate", "Write first kernels from a host function with loops, checked against it; or "
                    "a model's kernels from a PyTorch program");
    command.footer("\nExamples:\n"
                   "  kernelskill generate blur.cu:12\n"
                   "  kernelskill generate blur.cu:12 --write\n"
                   "  kernelskill generate model.pt2 -o model/\n"
                   "\nLines count from 1; the line lies in the function. Without a line, the file "
                   "has to have one function\n"
                   "with loops. A kernel whose verdict is incorrect or invalid is never written.");
    addJsonFlag(command, invocation);
    const auto arguments = std::make_shared<GenerateArguments>();
    command.option(
        &arguments->place,
        {.name = "FILE",
         .help = "The function, for example blur.cu:12, or an archive of torch.export.save (.pt2)",
         .required = true});
    command.flag(arguments->write,
                 {.name = "--write", .help = "Write kernels and launcher to the file"});
    addModelOptions(command, arguments->model);
    command.whenChosen([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return runGenerate(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
