#include "lsp-server/features/assembly.h"

#include "lsp-server/commands/assembly_text.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/assembly_json.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include <cstdlib>
#include <memory>
#include <stop_token>
#include <sys/ioctl.h>
#include <unistd.h>

namespace kernelskill::lsp {

namespace {

constexpr std::size_t usualWidth = 160;

struct AssemblyArguments {
    std::string place;
    std::string kernel;
    std::string architecture;
    std::string against;
    std::string skill;
    bool ptx = false;
    bool sass = false;
    bool namesGpu = false; ///< --gpu was given.
};

std::size_t terminalWidth() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return usualWidth;
}

AssemblyQuestion questionOf(const AssemblyArguments& arguments, const Options& options) {
    AssemblyQuestion question;
    if (arguments.ptx)
        question.language = engine::AssemblyLanguage::Ptx;
    if (arguments.sass)
        question.language = engine::AssemblyLanguage::Sass;
    question.architecture = arguments.architecture;
    if (arguments.namesGpu)
        question.gpu = options.gpu;
    if (!arguments.against.empty())
        question.baseline = AssemblyBaseline::File;
    if (!arguments.skill.empty())
        question.baseline = AssemblyBaseline::Skill;
    question.other = arguments.against.empty() ? arguments.skill : arguments.against;
    return question;
}

int run(const AssemblyArguments& arguments, const Invocation& invocation) {
    const FilePlace place = parseFilePlace(arguments.place);
    const auto snapshot = openInput(place.file, invocation.options);
    if (!snapshot)
        return reportError(snapshot.error(), invocation);
    const auto kernel = chooseKernel(**snapshot, arguments.kernel, place.line);
    if (!kernel)
        return reportError(kernel.error(), invocation);
    const auto& kernels = (*snapshot)->model().kernels;
    if (arguments.kernel.empty() && !place.line && kernels.size() > 1)
        fmt::print(stderr, "the file has {} kernels; this is '{}' (choose with --kernel)\n",
                   kernels.size(), (*kernel)->qualifiedName);
    auto question = questionOf(arguments, invocation.options);
    question.line = place.line;
    const auto view = assemblyView(**snapshot, **kernel, question, std::stop_token{}, {});
    if (!view)
        return reportError(view.error(), invocation);
    if (invocation.json) {
        printJson(assemblyJson(*view));
        return exitDone;
    }
    const Terminal terminal(stdout);
    fmt::print("{}", view->difference ? differenceText(*view, terminalWidth(), terminal)
                                      : listingText(view->versions.front(), place.file, terminal));
    return exitDone;
}

} // namespace

void addAssemblyCommand(CLI::App& app, Invocation& invocation) {
    CLI::App* command = app.add_subcommand(
        "assembly", "What a kernel compiles to, line by line: SASS or PTX, registers, spills");
    command->fallthrough();
    command->footer(
        "\nExamples:\n"
        "  kernelskill assembly transpose.cu                       SASS where nvdisasm is found, "
        "else PTX\n"
        "  kernelskill assembly transpose.cu:7 --ptx --arch sm_80  of the kernel at a line\n"
        "  kernelskill assembly new.cu --against old.cu            what changed from old to new\n"
        "  kernelskill assembly transpose.cu --skill shared-memory-padding\n"
        "\nNeeds the CUDA toolkit, or of it NVRTC for PTX; no GPU. The architecture is that of "
        "--arch, else of\n--gpu, else of this machine's GPU, else of an H200. Instructions are "
        "counted as they stand in the\ncode, not as often as they run. The edit of --skill is not "
        "verified; `apply` does that.");
    addJsonFlag(*command, invocation);
    const auto arguments = std::make_shared<AssemblyArguments>();
    command->add_option("FILE", arguments->place, "The CUDA file, with `:LINE` if need be")
        ->required();
    command->add_option("--kernel", arguments->kernel, "Which kernel; the first by default")
        ->type_name("NAME");
    command->add_option("--arch", arguments->architecture, "Compile for it: sm_80, sm_90a")
        ->type_name("SM");
    auto* ptx = command->add_flag("--ptx", arguments->ptx, "PTX");
    command->add_flag("--sass", arguments->sass, "SASS, or say what is missing for it")
        ->excludes(ptx);
    auto* against = command
                        ->add_option("--against", arguments->against,
                                     "The version before: show what changed since")
                        ->type_name("FILE");
    command->add_option("--skill", arguments->skill, "Show what a skill's edit would change")
        ->excludes(against)
        ->type_name("ID");
    command->callback([&app, &invocation, arguments] {
        arguments->namesGpu = app.count("--gpu") > 0;
        invocation.run = [&invocation, arguments] { return run(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
