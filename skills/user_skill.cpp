#include "skills/user_skill.h"

#include "skills/skill_document.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace kernelskill::skills {

namespace {

constexpr std::size_t maxDescription = 1024;

/// Ours, then those of the agent-skill convention.
constexpr std::array<std::string_view, 18> userSkillFields = {
    "name",          "description",   "title",   "lens",     "kind",
    "numerics",      "bottlenecks",   "when",    "sources",  "expected_gain",
    "failure_modes", "metavariables", "license", "metadata", "compatibility",
    "allowed-tools", "error",         "role"};

constexpr std::array<std::pair<std::string_view, MetavariableKind>, 6> metavariableKinds = {{
    {"expression", MetavariableKind::Expression},
    {"identifier", MetavariableKind::Identifier},
    {"constant", MetavariableKind::Constant},
    {"type", MetavariableKind::Type},
    {"statement", MetavariableKind::Statement},
    {"statements", MetavariableKind::Statements},
}};

enum class BlockRole : std::uint8_t { Before, After };

struct RoleBlock {
    BlockRole role = BlockRole::Before;
    CodeBlock code;
};

/// The role that a fence such as "```cuda before" gives its block; nullopt: an ordinary one.
std::optional<BlockRole> roleOf(std::string_view fence) {
    while (fence.ends_with(' ') || fence.ends_with('\r'))
        fence.remove_suffix(1);
    if (fence.ends_with(" before"))
        return BlockRole::Before;
    if (fence.ends_with(" after"))
        return BlockRole::After;
    return std::nullopt;
}

/// The blocks of the prose that have a role, in order.
Read<std::vector<RoleBlock>> blocksOf(const FrontMatter& front) {
    constexpr std::string_view fence = "```";
    std::vector<RoleBlock> blocks;
    std::optional<RoleBlock> open;
    int openedOn = 0; // 0: outside of a block
    int line = front.proseLine();
    const std::string_view prose = front.prose();
    for (std::size_t begin = 0; begin < prose.size(); ++line) {
        const std::size_t end = std::min(prose.find('\n', begin), prose.size());
        std::string_view text = prose.substr(begin, end - begin);
        begin = end + 1;
        if (text.ends_with('\r'))
            text.remove_suffix(1);
        if (!text.starts_with(fence)) {
            if (open)
                open->code.text += std::string(text) + "\n";
        } else if (openedOn != 0) {
            openedOn = 0;
            if (open)
                blocks.push_back(*std::exchange(open, std::nullopt));
        } else {
            openedOn = line;
            if (const auto role = roleOf(text))
                open = RoleBlock{*role, {"", line + 1}};
        }
    }
    if (openedOn != 0)
        return std::unexpected(DocumentProblem{openedOn, "the code block is not closed"});
    return blocks;
}

bool isMetavariableName(std::string_view name) {
    const auto tokens = analysis::lex(name);
    return tokens.size() == 1 && tokens[0].kind == analysis::TokenKind::Identifier &&
           tokens[0].text == name && name.find('$') == std::string_view::npos;
}

Read<Metavariable> metavariableOf(const FrontMatter::Entry& entry) {
    constexpr std::string_view of = " of ";
    Metavariable metavariable;
    metavariable.name = entry.name;
    metavariable.line = entry.line;
    if (!isMetavariableName(entry.name))
        return std::unexpected(DocumentProblem{
            entry.line, fmt::format("'{}' cannot name a metavariable", entry.name)});
    std::string_view kind = entry.value;
    if (const auto at = kind.find(of); at != std::string_view::npos) {
        metavariable.type = kind.substr(at + of.size());
        kind = kind.substr(0, at);
    }
    const auto* found =
        std::ranges::find(metavariableKinds, kind, [](const auto& known) { return known.first; });
    if (found == metavariableKinds.end())
        return std::unexpected(DocumentProblem{
            entry.line, fmt::format("'{}' is no kind of metavariable; known are expression, "
                                    "identifier, constant, type, statement, statements",
                                    kind)});
    metavariable.kind = found->second;
    if (!metavariable.type.empty() && metavariable.kind != MetavariableKind::Expression)
        return std::unexpected(DocumentProblem{entry.line, "only an expression is 'of' a type"});
    return metavariable;
}

Read<std::vector<CodePattern>> patternsOf(const FrontMatter& front,
                                          const std::vector<RoleBlock>& blocks) {
    std::vector<Metavariable> metavariables;
    if (front.has("metavariables")) {
        const auto entries = front.map("metavariables");
        if (!entries)
            return std::unexpected(entries.error());
        for (const FrontMatter::Entry& entry : *entries) {
            auto metavariable = metavariableOf(entry);
            if (!metavariable)
                return std::unexpected(metavariable.error());
            metavariables.push_back(std::move(*metavariable));
        }
    }
    std::vector<CodePattern> patterns;
    for (std::size_t i = 0; i < blocks.size(); i += 2) {
        const bool isPair = blocks[i].role == BlockRole::Before && i + 1 < blocks.size() &&
                            blocks[i + 1].role == BlockRole::After;
        if (!isPair)
            return std::unexpected(DocumentProblem{
                blocks[i].code.line - 1, blocks[i].role == BlockRole::Before
                                             ? "no 'after' block follows this 'before' block"
                                             : "no 'before' block precedes this 'after' block"});
        auto pattern = makePattern(blocks[i].code, blocks[i + 1].code, metavariables);
        if (!pattern)
            return std::unexpected(
                DocumentProblem{pattern.error().line, std::move(pattern.error().what)});
        patterns.push_back(std::move(*pattern));
    }
    return patterns;
}

/// "multiply-by-reciprocal" is "Multiply by reciprocal".
std::string titleFrom(std::string_view name) {
    std::string title(name);
    std::ranges::replace(title, '-', ' ');
    if (!title.empty() && title[0] >= 'a' && title[0] <= 'z')
        title[0] = static_cast<char>(title[0] - 'a' + 'A');
    return title;
}

Read<void> readRest(const FrontMatter& front, SkillMetadata& skill, bool hasPatterns) {
    std::optional<DocumentProblem> problem;
    const auto store = [&](auto& target, auto value) {
        if (value)
            target = std::move(*value);
        else if (!problem)
            problem = value.error();
    };
    if (hasPatterns) {
        if (auto known = front.requireOnly(userSkillFields); !known)
            return std::unexpected(known.error());
        // A rewrite that changes results must say so: the check of its edits depends on it.
        store(skill.numerics, numericsOf(front));
        if (front.has("error"))
            store(skill.error, errorOf(front, skill.numerics));
        if (front.has("role"))
            store(skill.role, roleOf(front));
    }
    if (front.has("kind")) {
        store(skill.kind, kindOf(front));
        if (hasPatterns && !problem && skill.kind != SkillKind::Source)
            problem = DocumentProblem{front.lineOf("kind"),
                                      "a skill made of patterns edits the source alone"};
    }
    if (front.has("title"))
        store(skill.title, front.text("title"));
    if (front.has("bottlenecks"))
        store(skill.bottlenecks, bottlenecksOf(front));
    if (front.has("when"))
        store(skill.when, front.list("when"));
    if (front.has("expected_gain"))
        store(skill.expectedGain, front.text("expected_gain"));
    if (front.has("failure_modes"))
        store(skill.failureModes, front.list("failure_modes"));
    if (front.has("sources"))
        store(skill.sources, front.list("sources"));
    if (problem)
        return std::unexpected(*problem);
    return {};
}

Read<UserSkill> read(const FrontMatter& front) {
    UserSkill skill;
    auto name = front.text("name");
    if (!name)
        return std::unexpected(name.error());
    auto description = front.text("description");
    if (!description)
        return std::unexpected(description.error());
    if (description->size() > maxDescription)
        return std::unexpected(DocumentProblem{
            front.lineOf("description"),
            fmt::format("the description has more than {} characters", maxDescription)});
    skill.metadata.id = std::move(*name);
    skill.metadata.description = std::move(*description);
    skill.metadata.title = titleFrom(skill.metadata.id);
    skill.metadata.method = front.prose();
    const auto blocks = blocksOf(front);
    if (!blocks)
        return std::unexpected(blocks.error());
    const bool hasPatterns = !blocks->empty() || front.has("metavariables");
    if (auto rest = readRest(front, skill.metadata, hasPatterns); !rest)
        return std::unexpected(rest.error());
    if (hasPatterns && blocks->empty())
        return std::unexpected(
            DocumentProblem{front.lineOf("metavariables"),
                            "metavariables are declared, but there is no 'before' block"});
    auto patterns = patternsOf(front, *blocks);
    if (!patterns)
        return std::unexpected(patterns.error());
    skill.patterns = std::move(*patterns);
    return skill;
}

} // namespace

Result<UserSkill> parseUserSkill(std::string_view text, std::string_view path) {
    const auto front = FrontMatter::parse(text);
    auto skill = front ? read(*front) : std::unexpected(front.error());
    if (!skill) {
        Error error = documentError(path, skill.error());
        error.remedy = "docs/user-skills.md describes the format";
        return std::unexpected(std::move(error));
    }
    skill->metadata.file = path;
    return std::move(*skill);
}

std::string newUserSkill(std::string_view name) {
    return fmt::format(R"(---
name: {}
description: Squares by a multiplication instead of a call of powf. Use on kernels that are bound by arithmetic.
title: {}
numerics: reassociates
bottlenecks: [compute]
metavariables:
  x: expression of float
---
A call of `powf` takes tens of instructions, a multiplication one.

```cuda before
powf($x, 2.0f)
```

```cuda after
$x * $x
```
)",
                       name, titleFrom(name));
}

} // namespace kernelskill::skills
