#include "lsp-server/mcp/skill_resources.h"

#include "skills/skill_document.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

constexpr std::string_view scheme = "kernelskill://skills/";
constexpr const char* markdown = "text/markdown";

void addItems(std::string& text, const char* heading, const std::vector<std::string>& items) {
    if (items.empty())
        return;
    text += fmt::format("\n## {}\n\n", heading);
    for (const std::string& item : items)
        text += fmt::format("- {}\n", item);
}

std::string textOf(const skills::SkillMetadata& skill) {
    std::string text = fmt::format("# {}\n\n{}\n\n- id: `{}`\n- kind: {}\n- numerics: {}\n",
                                   skill.title, skill.description, skill.id,
                                   skills::spelling(skill.kind), skills::spelling(skill.numerics));
    if (!skill.bottlenecks.empty())
        text += fmt::format("- answers: {}\n", fmt::join(skill.bottlenecks, ", "));
    if (!skill.expectedGain.empty())
        text += fmt::format("- expected: {}\n", skill.expectedGain);
    addItems(text, "Offered when", skill.when);
    addItems(text, "What can go wrong", skill.failureModes);
    if (!skill.method.empty())
        text += fmt::format("\n## Method\n\n{}\n", skill.method);
    addItems(text, "Sources", skill.sources);
    return text;
}

} // namespace

json skillResources(std::span<const skills::SkillMetadata> skills) {
    json resources = json::array();
    for (const skills::SkillMetadata& skill : skills)
        resources.push_back({{"uri", fmt::format("{}{}", scheme, skill.id)},
                             {"name", skill.id},
                             {"title", skill.title},
                             {"description", skill.description},
                             {"mimeType", markdown}});
    return resources;
}

json skillTemplate() {
    return {{"uriTemplate", fmt::format("{}{{id}}", scheme)},
            {"name", "skill"},
            {"title", "An expert method"},
            {"description", "What a skill does to a kernel, when it fits, and what can go wrong"},
            {"mimeType", markdown}};
}

std::optional<std::string> skillText(std::span<const skills::SkillMetadata> skills,
                                     std::string_view uri) {
    if (!uri.starts_with(scheme))
        return std::nullopt;
    const auto skill =
        std::ranges::find(skills, uri.substr(scheme.size()), &skills::SkillMetadata::id);
    return skill == skills.end() ? std::nullopt : std::optional(textOf(*skill));
}

} // namespace kernelskill::lsp
