#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/server/workspace.h"
#include "skills/skill_document.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>

namespace kernelskill::lsp {

namespace {

using skills::spelling;

void printList(const std::vector<skills::SkillMetadata>& skills) {
    const Terminal terminal(stdout);
    std::size_t width = 0;
    for (const skills::SkillMetadata& skill : skills)
        width = std::max(width, skill.id.size());
    for (const skills::SkillMetadata& skill : skills)
        fmt::print("{}  {}\n{:{}}  {}\n",
                   terminal.paint(Colour::Bold, fmt::format("{:{}}", skill.id, width)), skill.title,
                   "", width,
                   terminal.paint(Colour::Dim, fmt::format("{}, {}; for {}", spelling(skill.kind),
                                                           spelling(skill.numerics),
                                                           fmt::join(skill.bottlenecks, ", "))));
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
    fmt::print("{}\n{}\n\n", terminal.paint(Colour::Bold, skill.title), skill.id);
    fmt::print("kind:       {}\n", spelling(skill.kind));
    fmt::print("numerics:   {}\n", spelling(skill.numerics));
    fmt::print("answers:    {}\n", fmt::join(skill.bottlenecks, ", "));
    if (!skill.expectedGain.empty())
        fmt::print("expect:     {}\n", skill.expectedGain);
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

int run(const std::string& id, const Invocation& invocation) {
    const auto workbench = makeWorkbench(invocation.options);
    if (!workbench)
        return reportError(workbench.error(), invocation);
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
                    "  kernelskill skills show shared-memory-padding");
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
    command->callback(
        [&invocation, id] { invocation.run = [&invocation, id] { return run(*id, invocation); }; });
}

} // namespace kernelskill::lsp
