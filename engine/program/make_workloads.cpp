#include "engine/program/make_workloads.h"

#include "analysis/command/shell_words.h"
#include "analysis/source/files.h"
#include "analysis/source/trimmed.h"
#include "engine/program/command_words.h"
#include "engine/program/makefile_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::engine {
namespace {

/// The file that make reads.
std::filesystem::path makefileOf(const std::filesystem::path& folder) {
    for (const char* name : {"GNUmakefile", "makefile", "Makefile"})
        if (analysis::isFile(folder / name))
            return folder / name;
    return {};
}

std::string originOf(const Makefile& make, const MakeRule& rule) {
    return fmt::format("{}:{}", make.file.filename().string(), rule.line);
}

std::string_view withoutPrefixes(std::string_view line) {
    return analysis::trimmed(line.substr(std::min(line.find_first_not_of("@-+ \t"), line.size())));
}

bool onlySpeaks(std::string_view line) {
    return line.starts_with("echo ") || line.starts_with("printf ") || line == "echo";
}

/// The one command of a rule's recipe, beside what it prints; nullopt if there are several, or make
/// alone knows what it is.
std::optional<std::string> onlyCommand(const Makefile& make, const MakeRule& rule) {
    std::optional<std::string> command;
    for (const std::string& written : rule.recipe) {
        const auto line = make.expand(withoutPrefixes(written), rule);
        if (!line)
            return std::nullopt;
        const auto text = withoutPrefixes(*line);
        if (text.empty() || onlySpeaks(text))
            continue;
        if (command)
            return std::nullopt;
        command = text;
    }
    return command;
}

/// The command that makes the rule's prerequisites.
std::vector<std::string> buildOf(const Makefile& make, const MakeRule& rule) {
    std::vector<std::string> words{"make"};
    if (const auto names = make.expand(rule.prerequisites, rule))
        for (std::string& name : analysis::splitShellWords(*names))
            if (name != "|")
                words.push_back(std::move(name));
    const bool isDefault = !make.rules.empty() && make.rules.front().target == rule.target;
    return words.size() > 1 || !isDefault ? words : std::vector<std::string>{};
}

Workload runWorkload(const Makefile& make, const MakeRule& rule) {
    Workload workload;
    workload.name = rule.target;
    workload.folder = make.file.parent_path();
    workload.origin = originOf(make, rule);
    workload.build = buildOf(make, rule);
    if (const auto command = onlyCommand(make, rule))
        workload.command = commandWords(*command);
    if (workload.command.empty())
        workload.command = {"make", rule.target};
    return workload;
}

/// The program that a line of a recipe links from CUDA sources.
std::optional<std::string> linkedProgram(const std::string& line) {
    const auto words = analysis::splitShellWords(line);
    const bool isCuda = std::ranges::any_of(words, [](const std::string& word) {
        return word.ends_with(".cu") || word == "nvcc" || word.ends_with("/nvcc");
    });
    constexpr std::array<std::string_view, 8> partial{"-c",   "-dc",    "-dw",  "--shared",
                                                      "-ptx", "-cubin", "-lib", "-shared"};
    const bool isPart = std::ranges::any_of(words, [&](const std::string& word) {
        return std::ranges::find(partial, word) != partial.end();
    });
    const auto output = std::ranges::find(words, "-o");
    if (!isCuda || isPart || output == words.end() || output + 1 == words.end())
        return std::nullopt;
    const std::string& name = output[1];
    const auto extension = std::filesystem::path(name).extension();
    if (name.empty() || extension == ".o" || extension == ".so" || extension == ".a")
        return std::nullopt;
    return name;
}

/// Programs without arguments: what `make` says of them ends with the link.
std::vector<Workload> linkedPrograms(const Makefile& make) {
    std::vector<Workload> workloads;
    for (const MakeRule& rule : make.rules) {
        for (const std::string& written : rule.recipe) {
            const auto line = make.expand(withoutPrefixes(written), rule);
            const auto program = line ? linkedProgram(*line) : std::nullopt;
            if (!program || rule.target.contains('%'))
                continue;
            Workload workload;
            workload.name = std::filesystem::path(*program).filename();
            workload.folder = make.file.parent_path();
            workload.command = {program->contains('/') ? *program : "./" + *program};
            workload.build = {"make", make.expand(rule.target, rule).value_or("all")};
            workload.origin = originOf(make, rule);
            workloads.push_back(std::move(workload));
        }
    }
    return workloads;
}

} // namespace

FoundWorkloads makeWorkloads(const std::filesystem::path& folder) {
    const auto file = makefileOf(folder);
    if (file.empty())
        return {};
    const auto text = analysis::readFile(file);
    if (!text)
        return {{},
                {fmt::format("{} cannot be read: {}", file.string(),
                             analysis::unreadableReason(file))}};
    const Makefile make = readMakefileText(file, *text);
    if (const MakeRule* run = make.find("run"))
        return {{runWorkload(make, *run)}, {}};
    FoundWorkloads found{linkedPrograms(make), {}};
    if (found.workloads.empty())
        found.notes.push_back(fmt::format(
            "{} has no target `run`, and no rule that links a program from CUDA sources",
            file.string()));
    return found;
}

} // namespace kernelskill::engine
