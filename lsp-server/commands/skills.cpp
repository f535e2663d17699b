#include "analysis/source/json.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/workspace/skill_folders.h"
#include "lsp-server/workspace/workspace.h"
#include "lsp-server/workspace/workspace_root.h"
#include "skills/skill_document.h"
#include "skills/user_skill.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

namespace kernelskill::lsp {

namespace {

using skills::spelling;

/// "source, exact; for bank-conflicts", and its origin.
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
    if (skill.error)
        fmt::print("states:     {:.3g} ulp, {:.2g} absolute\n", skill.error->ulps,
                   skill.error->absolute);
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
    const auto& all = workbench.library().documents;
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

int runSkills(const std::string& id, const Invocation& invocation) {
    const auto workbench =
        makeWorkbench(invocation.options, skillFoldersOfCommand(currentWorkspaceRoot()));
    if (!workbench)
        return reportError(workbench.error(), invocation);
    for (const Error& error : (*workbench)->library().errors)
        fmt::print(stderr, "{}\n", error.describe());
    if (!id.empty())
        return showSkill(**workbench, id, invocation);
    if (invocation.json) {
        nlohmann::json list = nlohmann::json::array();
        for (const skills::SkillMetadata& skill : (*workbench)->library().documents)
            list.push_back(skillJson(skill));
        printJson(list);
    } else {
        printList((*workbench)->library().documents);
    }
    return (*workbench)->library().documents.empty() ? exitNothingFound : exitDone;
}

} // namespace

void addSkillsCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add("skills", "List the expert methods that can be applied");
    command.footer("\nExamples:\n"
                   "  kernelskill skills list\n"
                   "  kernelskill skills show shared-memory-padding\n"
                   "  kernelskill skills new multiply-by-reciprocal");
    addJsonFlag(command, invocation);
    const auto id = std::make_shared<std::string>();
    const auto listOrShow = [&invocation, id] {
        invocation.run = [&invocation, id] { return runSkills(*id, invocation); };
    };
    command.whenChosen(listOrShow);
    command.add("list", "List all skills, one a line (the default)").whenChosen(listOrShow);
    CliCommand& show = command.add("show", "Show a skill: when it fits, what it does and why");
    show.option(id.get(), {.name = "ID", .help = "The skill's id", .required = true});
    show.whenChosen(listOrShow);
    const auto isUsers = std::make_shared<bool>(false);
    CliCommand& make = command.add(
        "new", "Create a skill made of patterns in .kernelskill/skills of this workspace");
    make.option(id.get(),
                {.name = "NAME", .help = "Name of the skill and of its folder", .required = true});
    make.flag(*isUsers, {.name = "--user",
                         .help = "Create it in ~/.config/kernelskill/skills, for all workspaces"});
    make.whenChosen([&invocation, id, isUsers] {
        invocation.run = [&invocation, id, isUsers] { return create(*id, *isUsers, invocation); };
    });
}

} // namespace kernelskill::lsp
