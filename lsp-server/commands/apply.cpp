#include "analysis/source/json.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/executor_option.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/commands/judged_edit.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/features/offered_skill.h"
#include "lsp-server/report/json_report.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::lsp {

namespace {

struct ApplyArguments {
    std::string skill;
    std::string place;
    std::string executor;     ///< Measures it; empty: as the settings say.
    std::uint32_t option = 1; ///< Which of the skill's options, from 1.
    bool write = false;
};

std::vector<std::string> titlesOf(const std::vector<skills::Offer>& offers) {
    std::vector<std::string> titles;
    for (const skills::Offer& offer : offers)
        titles.push_back(offer.title);
    return titles;
}

/// "1 (Unroll by 4), 2 (Unroll by 8)".
std::string listed(const std::vector<skills::Offer>& offers) {
    std::string text;
    for (std::size_t i = 0; i < offers.size(); ++i)
        text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", i + 1, offers[i].title);
    return text;
}

void printOptions(const Terminal& terminal, std::uint32_t chosen,
                  const std::vector<skills::Offer>& offers) {
    for (std::size_t i = 0; i < offers.size(); ++i)
        if (i + 1 != chosen)
            fmt::print("  {}  {}\n", terminal.paint(Colour::Dim, fmt::format("--option {}", i + 1)),
                       offers[i].title);
}

void printEdit(const engine::ReviewedEdit& edit, std::uint32_t option,
               const std::vector<skills::Offer>& offers) {
    const Terminal terminal(stdout);
    printChecked(terminal, edit.diff, edit.verdict);
    printCounters(terminal, edit.verdict);
    fmt::print("\n");
    printVerdict(terminal, edit.verdict, edit.acceptable());
    printOptions(terminal, option, offers);
}

int runApply(const ApplyArguments& arguments, const Invocation& invocation) {
    const auto place = parseFilePlace(arguments.place);
    if (!place)
        return reportError(place.error(), invocation);
    const auto opened = openInput(place->file, optionsOn(arguments.executor, invocation.options));
    if (!opened)
        return reportError(opened.error(), invocation);
    const Snapshot& snapshot = **opened;
    const auto& all = snapshot.workbench->library().documents;
    if (std::ranges::find(all, arguments.skill, &skills::SkillMetadata::id) == all.end())
        return reportError({ErrorKind::InvalidInput, fmt::format("no skill '{}'", arguments.skill),
                            "", "`kernelskill skills list` names them"},
                           invocation);
    const auto kernel = chooseKernel(snapshot, "", place->line);
    if (!kernel)
        return reportError(kernel.error(), invocation);
    const auto offers = offersOf(snapshot, **kernel, place->line, arguments.skill);
    if (!offers)
        return reportNotOffered(offers.error(), {{"skill", arguments.skill}}, invocation);
    if (arguments.option > offers->size())
        return reportError(
            {ErrorKind::InvalidInput,
             fmt::format("'{}' has no option {} here", arguments.skill, arguments.option), "",
             "it has: " + listed(*offers)},
            invocation);
    const skills::Offer& offer = (*offers)[arguments.option - 1];
    const Interruption interruption;
    // A queue may be long.
    const auto say = [&](std::string_view what, double) {
        if (arguments.executor == "slurm")
            fmt::print(stderr, "{}\n", what);
    };
    const auto edit = snapshot.workbench->advisor().apply(
        {snapshot.program, **kernel}, offer, snapshot.memory(), interruption.token(), say);
    if (!edit)
        return reportError(edit.error(), invocation);
    TextLookup texts(snapshot.program);
    if (invocation.json)
        printJson({{"skill", edit->skill},
                   {"edits",
                    editsJson(edit->edits, snapshot.program.file, texts, PositionEncoding::Utf16)},
                   {"verdict", verdictJson(edit->verdict)},
                   {"option", arguments.option},
                   {"options", titlesOf(*offers)},
                   {"diff", edit->diff}});
    else
        printEdit(*edit, arguments.option, *offers);
    return finishEdit({edit->edits, edit->verdict, edit->acceptable(), "the edit"}, place->file,
                      texts, arguments.write, invocation);
}

} // namespace

void addApplyCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "apply", "Apply a skill; the edit is compiled and checked against the original first");
    command.footer("\nExamples:\n"
                   "  kernelskill apply shared-memory-padding transpose.cu:7\n"
                   "  kernelskill apply loop-unrolling dot.cu:12 --write\n"
                   "\nLines count from 1, as in compiler messages; without a line, the first "
                   "kernel is taken.\n"
                   "An edit whose verdict is incorrect or invalid is never written.");
    addJsonFlag(command, invocation);
    const auto arguments = std::make_shared<ApplyArguments>();
    command.option(&arguments->skill, {.name = "SKILL",
                                       .help = "The skill's id, see `kernelskill skills list`",
                                       .required = true});
    command.option(&arguments->place, {.name = "FILE:LINE",
                                       .help = "Where to apply it, for example transpose.cu:7",
                                       .required = true});
    addExecutorOptions(command, invocation, arguments->executor, {"emulator", "gpu", "slurm"});
    addSanitizerFlag(command, invocation);
    command.option(&arguments->option,
                   {.name = "--option",
                    .placeholder = "N",
                    .help = "Which of the skill's options, as listed behind the verdict (1)",
                    .range = std::pair{1.0, 1000.0}});
    command.flag(arguments->write, {.name = "--write", .help = "Write the edit to the file"});
    command.whenChosen([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return runApply(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
