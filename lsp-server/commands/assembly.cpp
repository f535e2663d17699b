#include "lsp-server/features/assembly.h"

#include "analysis/source/json.h"
#include "lsp-server/commands/assembly_text.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/kernel_option.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/features/assembly_json.h"

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
    KernelArguments kernel;
    std::string architecture;
    std::string against;
    std::string skill;
    bool ptx = false;
    bool sass = false;
};

std::size_t terminalWidth() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return usualWidth;
}

AssemblyQuestion questionOf(const AssemblyArguments& arguments, const Invocation& invocation) {
    AssemblyQuestion question;
    if (arguments.ptx)
        question.language = engine::AssemblyLanguage::Ptx;
    if (arguments.sass)
        question.language = engine::AssemblyLanguage::Sass;
    question.architecture = arguments.architecture;
    if (invocation.namesGpu)
        question.gpu = invocation.options.gpu;
    if (!arguments.against.empty())
        question.baseline = AssemblyBaseline::File;
    if (!arguments.skill.empty())
        question.baseline = AssemblyBaseline::Skill;
    question.other = arguments.against.empty() ? arguments.skill : arguments.against;
    return question;
}

int runAssembly(const AssemblyArguments& arguments, const Invocation& invocation) {
    const auto opened = openPlace(arguments.kernel, invocation.options);
    if (!opened)
        return reportError(opened.error(), invocation);
    const auto kernel = opened->chosen();
    if (!kernel)
        return reportError(kernel.error(), invocation);
    const auto& kernels = opened->snapshot->model().kernels;
    if (!opened->namesKernel() && kernels.size() > 1)
        fmt::print(stderr, "the file has {} kernels; this is '{}' (choose with --kernel)\n",
                   kernels.size(), (*kernel)->qualifiedName);
    auto question = questionOf(arguments, invocation);
    question.line = opened->place.line;
    const auto view = assemblyView(*opened->snapshot, **kernel, question, std::stop_token{}, {});
    if (!view)
        return reportError(view.error(), invocation);
    if (invocation.json) {
        printJson(assemblyJson(*view));
        return exitDone;
    }
    const Terminal terminal(stdout);
    fmt::print("{}", view->difference
                         ? differenceText(*view, terminalWidth(), terminal)
                         : listingText(view->versions.front(), opened->place.file, terminal));
    return exitDone;
}

} // namespace

void addAssemblyCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "assembly", "Show what a kernel compiles to, line by line: SASS or PTX, registers, spills");
    command.footer(
        "\nExamples:\n"
        "  kernelskill assembly transpose.cu                       SASS if nvdisasm is found, else "
        "PTX\n"
        "  kernelskill assembly transpose.cu:7 --ptx --arch sm_80  the kernel at a line\n"
        "  kernelskill assembly new.cu --against old.cu            what changed from old to new\n"
        "  kernelskill assembly transpose.cu --skill shared-memory-padding\n"
        "\nNeeds the CUDA toolkit (for PTX, NVRTC is enough), but no GPU. The architecture is that "
        "of --arch, else\nof --gpu, else of this machine's GPU, else of an H200. Instructions are "
        "counted as they stand in the code,\nnot as often as they run. The edit of --skill is not "
        "verified; `apply` does that.");
    addJsonFlag(command, invocation);
    const auto arguments = std::make_shared<AssemblyArguments>();
    addKernelArguments(command, arguments->kernel, "the first one by default");
    command.option(&arguments->architecture,
                   {.name = "--arch",
                    .placeholder = "SM",
                    .help = "Architecture to compile for: sm_80, sm_90a"});
    command.flag(arguments->ptx, {.name = "--ptx", .help = "Show PTX"});
    command.flag(arguments->sass, {.name = "--sass",
                                   .help = "Show SASS, or say what is missing for it",
                                   .excludes = "--ptx"});
    command.option(&arguments->against,
                   {.name = "--against",
                    .placeholder = "FILE",
                    .help = "An earlier version of the file: show what changed since"});
    command.option(&arguments->skill, {.name = "--skill",
                                       .placeholder = "ID",
                                       .help = "Show what this skill's edit would change",
                                       .excludes = "--against"});
    command.whenChosen([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return runAssembly(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
