/// The text of a makefile as rules and variables. Nothing is run: what only make can tell
/// ($(shell ...), functions, values behind conditions) is unknown.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct MakeRule {
    std::string
        target; ///< The text of one target: a rule with several targets becomes several of these.
    std::string prerequisites;
    std::vector<std::string> recipe; ///< Lines without their leading tab, continuations joined.
    std::uint32_t line = 0;          ///< Counts from 1.
    std::map<std::string, std::string> variables; ///< Variables that only this target has.
};

struct Makefile {
    std::filesystem::path file;
    std::vector<MakeRule> rules;
    /// nullopt: its value depends on a condition or on another file.
    std::map<std::string, std::optional<std::string>> variables;
    bool includesOthers = false;

    [[nodiscard]] const MakeRule* find(std::string_view target) const;
    /// The text with references to variables replaced by their values, those of the rule and
    /// `$@`, `$<`, `$^` among them. nullopt if one is unknown. `$$` becomes `$`.
    [[nodiscard]] std::optional<std::string> expand(std::string_view text,
                                                    const MakeRule& rule) const;
};

[[nodiscard]] Makefile readMakefileText(const std::filesystem::path& file, std::string_view text);

} // namespace kernelskill::engine
