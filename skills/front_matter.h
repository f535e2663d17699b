/// The YAML between two lines of `---` at the head of a SKILL.md, read field by field.
#pragma once

#include "analysis/source/error.h"

#include <yaml-cpp/yaml.h>

#include <array>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::skills {

/// A fault of a document, and the line that it is on.
struct DocumentProblem {
    int line = 1;
    std::string what;
};
template <typename T>
using Read = std::expected<T, DocumentProblem>;

/// The problem as an error of the file.
[[nodiscard]] Error documentError(std::string_view path, const DocumentProblem& problem);

class FrontMatter {
public:
    /// Splits the document and parses its head.
    [[nodiscard]] static Read<FrontMatter> parse(std::string_view document);

    [[nodiscard]] bool has(std::string_view field) const;
    /// The line of the field's value; 1 where there is none.
    [[nodiscard]] int lineOf(std::string_view field) const;
    /// A text that is not empty, without the line ends behind it. A problem where it is missing.
    [[nodiscard]] Read<std::string> text(std::string_view field) const;
    /// A list of texts with at least one.
    [[nodiscard]] Read<std::vector<std::string>> list(std::string_view field) const;
    /// A map of texts, in order, each with its line.
    struct Entry {
        std::string name;
        std::string value;
        int line = 1;
    };
    [[nodiscard]] Read<std::vector<Entry>> map(std::string_view field) const;
    /// A text that is one of `spellings`, as its value.
    template <typename Value, std::size_t count>
    [[nodiscard]] Read<Value>
    named(std::string_view field,
          const std::array<std::pair<std::string_view, Value>, count>& spellings) const {
        auto value = text(field);
        if (!value)
            return std::unexpected(value.error());
        std::vector<std::string_view> known;
        for (const auto& [spelled, meant] : spellings) {
            if (spelled == *value)
                return meant;
            known.push_back(spelled);
        }
        return std::unexpected(notKnown(field, *value, known));
    }
    /// A problem at the first field that is none of `known`.
    [[nodiscard]] Read<void> requireOnly(std::span<const std::string_view> known) const;

    [[nodiscard]] const std::string& prose() const { return prose_; }
    [[nodiscard]] int proseLine() const { return proseLine_; } ///< That the prose begins on.

private:
    [[nodiscard]] DocumentProblem notKnown(std::string_view field, std::string_view value,
                                           const std::vector<std::string_view>& known) const;
    [[nodiscard]] Read<YAML::Node> required(std::string_view field) const;

    YAML::Node root_;
    std::string prose_;
    int proseLine_ = 1;
};

} // namespace kernelskill::skills
