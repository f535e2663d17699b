#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/server/skill_folders.h"
#include "lsp-server/server/workspace.h"
#include "skills/skill_document.h"
#include "skills/user_skill.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

namespace kernelskill::lsp {

namespace {

using skills::spelling;

/// "source, exact; for bank-conflicts", and whose it is.
std::string summaryOf(const skills::SkillMetadata& skill) {
    std::string text = fmt::format("{}, {}", spelling(skill.kind), spelling(skill.numerics));
    if (!skill.bottlenecks.empty())
        text += fmt::format("; for {}", fmt::join(skill.bottlenecks, ", "));
    if (skill.origin != skills::SkillOrigin::BuiltIn)
        text += fmt::format("; {}", skill.file);
    return text;
}

void printList(const std::vector<skills::SkillMetadata>& skills) {
    const Terminal terminal(stdout);
    std::size_t width = 0;
    for (const skills::SkillMetadata& skill : skills)
        width = std::max(width, skill.id.size());
    for (const skills::SkillMetadata& skill : skills)
        fmt::print("{}  {}\n{:{}}  {}\n",
                   terminal.paint(Colour::Bold, fmt::format("{:{}}", skill.id, width)), skill.title,
                   "", width, terminal.paint(Colour::Dim, summaryOf(skill)));
}

void printItems(const Terminal& terminal, const char* heading,
                const std::vector<std::string>& items) {
    if (items.empty())
        return;
    fmt::print("\n{}\n", terminal.paint(Colour::Bold, heading));
    for (const std::string& item : items)
        fmt::print("  - {}\n", item);
}

void printSkill(const skills::SkillMetadata& skill) {
    const Terminal terminal(stdout);
    fmt::print("{}\n{}\n\n{}\n\n", terminal.paint(Colour::Bold, skill.title), skill.id,
               skill.description);
    fmt::print("kind:       {}\n", spelling(skill.kind));
    fmt::print("numerics:   {}\n", spelling(skill.numerics));
    if (!skill.bottlenecks.empty())
        fmt::print("answers:    {}\n", fmt::join(skill.bottlenecks, ", "));
    if (!skill.expectedGain.empty())
        fmt::print("expect:     {}\n", skill.expectedGain);
    if (skill.origin != skills::SkillOrigin::BuiltIn)
        fmt::print("file:       {}\n", skill.file);
    printItems(terminal, "Offered when", skill.when);
    printItems(terminal, "What can go wrong", skill.failureModes);
    if (!skill.method.empty())
        fmt::print("\n{}\n", skill.method);
    printItems(terminal, "Sources", skill.sources);
}

int showSkill(const engine::Workbench& workbench, const std::string& id,
              const Invocation& invocation) {
    const auto& all = workbench.skills();
    const auto skill = std::ranges::find(all, id, &skills::SkillMetadata::id);
    if (skill == all.end())
        return reportError({ErrorKind::InvalidInput, fmt::format("no skill '{}'", id), "",
                            "`kernelskill skills list` names them"},
                           invocation);
    if (!invocation.json) {
        printSkill(*skill);
        return exitDone;
    }
    nlohmann::json document = skillJson(*skill);
    document["when"] = skill->when;
    document["expectedGain"] = skill->expectedGain;
    document["failureModes"] = skill->failureModes;
    document["sources"] = skill->sources;
    document["method"] = skill->method;
    printJson(document);
    return exitDone;
}

/// Makes a skill of that name in the workspace, or among the user's own.
int create(const std::string& name, bool isUsers, const Invocation& invocation) {
    if (!skills::isSkillName(name))
        return reportError({ErrorKind::InvalidInput, fmt::format("'{}' cannot name a skill", name),
                            "", "use lower-case letters, digits and single hyphens"},
                           invocation);
    const auto folder =
        (isUsers ? userSkillFolder() : workspaceSkillFolder(currentWorkspaceRoot())) / name;
    const auto file = folder / "SKILL.md";
    std::error_code failure;
    if (std::filesystem::exists(file, failure))
        return reportError({ErrorKind::InvalidInput, "there is such a skill already", file.string(),
                            "edit it, or take another name"},
                           invocation);
    std::filesystem::create_directories(folder, failure);
    std::ofstream stream(file, std::ios::binary);
    stream << skills::newUserSkill(name);
    stream.close();
    if (!stream)
        return reportError({ErrorKind::Failed, "the file cannot be written", file.string(), ""},
                           invocation);
    if (invocation.json)
        printJson({{"file", file.string()}});
    else
        fmt::print("{}\n", file.string());
    return exitDone;
}

int run(const std::string& id, const Invocation& invocation) {
    const auto workbench =
        makeWorkbench(invocation.options, skillFoldersOfCommand(currentWorkspaceRoot()));
    if (!workbench)
        return reportError(workbench.error(), invocation);
    for (const Error& error : (*workbench)->skillErrors())
        fmt::print(stderr, "{}\n", error.describe());
    if (!id.empty())
        return showSkill(**workbench, id, invocation);
    if (invocation.json) {
        nlohmann::json list = nlohmann::json::array();
        for (const skills::SkillMetadata& skill : (*workbench)->skills())
            list.push_back(skillJson(skill));
        printJson(list);
    } else {
        printList((*workbench)->skills());
    }
    return (*workbench)->skills().empty() ? exitNothingFound : exitDone;
}

} // namespace

void addSkillsCommand(CLI::App& app, Invocation& invocation) {
    CLI::App* command = app.add_subcommand("skills", "The expert methods that can be applied");
    command->footer("\nExamples:\n"
                    "  kernelskill skills list\n"
                    "  kernelskill skills show shared-memory-padding\n"
                    "  kernelskill skills new multiply-by-reciprocal");
    command->fallthrough();
    command->require_subcommand(0, 1);
    addJsonFlag(*command, invocation);
    const auto id = std::make_shared<std::string>();
    CLI::App* list = command->add_subcommand("list", "All of them, one a line (the default)");
    list->fallthrough();
    CLI::App* show =
        command->add_subcommand("show", "One of them: when it fits, what it does, why");
    show->fallthrough();
    show->add_option("ID", *id, "The skill")->required();
    const auto isUsers = std::make_shared<bool>(false);
    CLI::App* make = command->add_subcommand(
        "new", "Make a skill out of patterns, in .kernelskill/skills of this workspace");
    make->fallthrough();
    make->add_option("NAME", *id, "Its name, and its folder's")->required();
    make->add_flag("--user", *isUsers, "For all workspaces: below ~/.config/kernelskill/skills");
    command->callback([&invocation, id, isUsers, make] {
        if (make->parsed())
            invocation.run = [&invocation, id, isUsers] {
                return create(*id, *isUsers, invocation);
            };
        else
            invocation.run = [&invocation, id] { return run(*id, invocation); };
    });
}

} // namespace kernelskill::lsp
