#include "engine/program/makefile_text.h"

#include "analysis/source/trimmed.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace kernelskill::engine {
namespace {

using analysis::trimmed;

constexpr int maxMakeExpansions = 30; // of variables in variables
constexpr std::size_t maxMakeBytes = 1u << 16;

/// A line with its continuations: "\<line end>" becomes a blank.
struct LogicalLine {
    std::string text;
    std::uint32_t number = 1;
};

std::vector<LogicalLine> logicalLines(std::string_view text) {
    std::vector<LogicalLine> lines;
    std::uint32_t number = 1;
    bool isContinued = false;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        const bool goesOn = line.ends_with('\\');
        if (goesOn)
            line.remove_suffix(1);
        if (isContinued)
            lines.back().text.append(" ").append(trimmed(line));
        else
            lines.push_back({std::string(line), number});
        isContinued = goesOn;
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
    }
    return lines;
}

std::string_view withoutComment(std::string_view line) {
    for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
        if (at == 0 || line[at - 1] != '\\')
            return line.substr(0, at);
    return line;
}

std::string_view firstWord(std::string_view line) {
    return line.substr(0, std::min(line.find_first_of(" \t("), line.size()));
}

/// The place of the first of `characters` outside of $(...) and ${...}.
std::size_t findOutside(std::string_view line, std::string_view characters) {
    int depth = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '(' || line[i] == '{')
            ++depth;
        else if (line[i] == ')' || line[i] == '}')
            --depth;
        else if (depth <= 0 && characters.contains(line[i]))
            return i;
    }
    return std::string_view::npos;
}

struct Assignment {
    std::string name;
    char kind = '='; ///< '=', ':', '?', '+' or '!', the shell's.
    std::string value;
};

std::optional<Assignment> assignmentOf(std::string_view line) {
    for (const std::string_view prefix : {"export ", "override ", "private "})
        if (line.starts_with(prefix))
            line = trimmed(line.substr(prefix.size()));
    const auto equals = findOutside(line, "=");
    if (equals == std::string_view::npos || equals == 0)
        return std::nullopt;
    Assignment assignment;
    auto nameEnd = equals;
    if (std::string_view("?+!:").contains(line[nameEnd - 1]))
        assignment.kind = line[--nameEnd];
    while (nameEnd > 0 && line[nameEnd - 1] == ':')
        --nameEnd;
    const auto name = trimmed(line.substr(0, nameEnd));
    if (name.empty() || name.find_first_of(" \t:") != std::string_view::npos)
        return std::nullopt;
    assignment.name = name;
    assignment.value = trimmed(line.substr(equals + 1));
    return assignment;
}

std::vector<std::string> wordsOf(std::string_view text) {
    std::vector<std::string> words;
    while (!(text = trimmed(text)).empty()) {
        const auto end = std::min(text.find_first_of(" \t"), text.size());
        words.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return words;
}

class MakefileReader {
public:
    MakefileReader(const std::filesystem::path& file, std::string_view text) {
        make_.file = file;
        for (const LogicalLine& line : logicalLines(text))
            read(line);
    }
    Makefile take() { return std::move(make_); }

private:
    void read(const LogicalLine& line) {
        if (line.text.starts_with('\t') && firstOpenRule_ < make_.rules.size()) {
            for (std::size_t i = firstOpenRule_; i < make_.rules.size(); ++i)
                make_.rules[i].recipe.emplace_back(trimmed(line.text));
            return;
        }
        const auto text = trimmed(withoutComment(line.text));
        if (text.empty())
            return;
        const auto word = firstWord(text);
        if (isInDefinition_) {
            isInDefinition_ = word != "endef";
            return;
        }
        if (word == "define") {
            isInDefinition_ = true;
            make_.variables[std::string(trimmed(text.substr(word.size())))] = std::nullopt;
            return;
        }
        constexpr std::array<std::string_view, 4> conditions{"ifeq", "ifneq", "ifdef", "ifndef"};
        if (std::ranges::find(conditions, word) != conditions.end()) {
            ++conditions_;
            return;
        }
        if (word == "endif")
            conditions_ -= conditions_ > 0 ? 1 : 0;
        if (word == "endif" || word == "else")
            return;
        if (word == "include" || word == "-include" || word == "sinclude") {
            make_.includesOthers = true;
            return;
        }
        if (const auto assignment = assignmentOf(text))
            return assign(make_.variables, *assignment);
        readRule(text, line.number);
    }

    void assign(std::map<std::string, std::optional<std::string>>& variables,
                const Assignment& assignment) const {
        auto [variable, isNew] = variables.try_emplace(assignment.name, std::string());
        if (conditions_ > 0 || assignment.kind == '!') {
            variable->second = std::nullopt;
        } else if (assignment.kind == '+') {
            if (variable->second)
                variable->second->append(variable->second->empty() ? "" : " ")
                    .append(assignment.value);
        } else if (assignment.kind != '?') {
            variable->second = assignment.value;
        } else if (isNew) {
            const char* own = std::getenv(assignment.name.c_str());
            variable->second = own == nullptr ? assignment.value : own;
        }
    }

    void readRule(std::string_view text, std::uint32_t line) {
        const auto colon = findOutside(text, ":");
        if (colon == std::string_view::npos)
            return;
        auto rest = text.substr(colon + 1);
        if (rest.starts_with(':'))
            rest.remove_prefix(1);
        const auto targets = wordsOf(text.substr(0, colon));
        if (const auto own = assignmentOf(trimmed(rest))) {
            for (const std::string& target : targets)
                targetVariables_[target][own->name] = own->value;
            for (MakeRule& rule : make_.rules)
                if (std::ranges::find(targets, rule.target) != targets.end())
                    rule.variables[own->name] = own->value;
            return;
        }
        firstOpenRule_ = make_.rules.size();
        const auto semicolon = findOutside(rest, ";");
        for (const std::string& target : targets) {
            MakeRule rule{target,
                          std::string(trimmed(rest.substr(0, semicolon))),
                          {},
                          line,
                          targetVariables_[target]};
            if (semicolon != std::string_view::npos)
                rule.recipe.emplace_back(trimmed(rest.substr(semicolon + 1)));
            make_.rules.push_back(std::move(rule));
        }
    }

    Makefile make_;
    std::map<std::string, std::map<std::string, std::string>> targetVariables_;
    std::size_t firstOpenRule_ = 0; ///< Recipe lines belong to the rules from here on.
    int conditions_ = 0;
    bool isInDefinition_ = false;
};

/// Replaces references by values.
class Expansion {
public:
    Expansion(const Makefile& make, const MakeRule& rule) : make_(make), rule_(rule) {}

    std::optional<std::string> of(std::string_view text) {
        std::string result;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '$' || i + 1 == text.size()) {
                result += text[i];
                continue;
            }
            const char next = text[++i];
            if (next == '$') {
                result += '$';
                continue;
            }
            std::string_view name = text.substr(i, 1);
            if (next == '(' || next == '{') {
                const auto end = text.find(next == '(' ? ')' : '}', i);
                if (end == std::string_view::npos)
                    return std::nullopt;
                name = text.substr(i + 1, end - i - 1);
                i = end;
            }
            const auto value = valueOf(name);
            if (!value || result.size() + value->size() > maxMakeBytes)
                return std::nullopt;
            result += *value;
        }
        return result;
    }

private:
    std::optional<std::string> valueOf(std::string_view name) {
        if (name == "@")
            return rule_.target;
        if (name == "CURDIR")
            return make_.file.parent_path().string();
        if (name == "MAKE")
            return "make";
        if (++expansions_ > maxMakeExpansions)
            return std::nullopt;
        if (name == "^")
            return of(rule_.prerequisites);
        if (name == "<") {
            const auto all = of(rule_.prerequisites);
            return all ? std::optional(std::string(firstWord(*all))) : std::nullopt;
        }
        // Functions, substitutions and nested references are make's own business.
        if (name.find_first_of(" \t,:$()%") != std::string_view::npos)
            return std::nullopt;
        const std::string key(name);
        if (const auto own = rule_.variables.find(key); own != rule_.variables.end())
            return of(own->second);
        if (const auto found = make_.variables.find(key); found != make_.variables.end())
            return found->second ? of(*found->second) : std::nullopt;
        if (const char* value = std::getenv(key.c_str()))
            return value;
        return make_.includesOthers ? std::nullopt : std::optional(std::string());
    }

    const Makefile& make_;
    const MakeRule& rule_;
    int expansions_ = 0;
};

} // namespace

const MakeRule* Makefile::find(std::string_view target) const {
    // A rule without a recipe adds prerequisites to the one that has it.
    const MakeRule* found = nullptr;
    for (const MakeRule& rule : rules)
        if (rule.target == target && (found == nullptr || found->recipe.empty()))
            found = &rule;
    return found;
}

std::optional<std::string> Makefile::expand(std::string_view text, const MakeRule& rule) const {
    return Expansion(*this, rule).of(text);
}

Makefile readMakefileText(const std::filesystem::path& file, std::string_view text) {
    return MakefileReader(file, text).take();
}

} // namespace kernelskill::engine
