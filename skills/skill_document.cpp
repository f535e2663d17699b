#include "skills/skill_document.h"

#include "analysis/source/files.h"

#include <spdlog/fmt/fmt.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace kernelskill::skills {

namespace {

constexpr std::array<std::pair<std::string_view, SkillKind>, 3> kinds = {{
    {"source", SkillKind::Source},
    {"launch", SkillKind::Launch},
    {"library", SkillKind::Library},
}};

constexpr std::array<std::pair<std::string_view, Numerics>, 3> numericsNames = {{
    {"exact", Numerics::Exact},
    {"reassociates", Numerics::Reassociates},
    {"reduced-precision", Numerics::ReducedPrecision},
}};

constexpr std::array<std::string_view, 9> fields = {
    "id",   "title",         "kind",          "numerics", "bottlenecks",
    "when", "expected_gain", "failure_modes", "sources"};

/// Raised inside the parser only; parseSkillDocument turns it into an Error.
struct FieldError {
    int line = 0;
    std::string what;
};

/// Line in the document of a place in the front matter, whose first line is the document's second.
int documentLine(const YAML::Mark& mark) {
    return mark.is_null() ? 1 : mark.line + 2;
}

struct DocumentParts {
    std::string frontMatter;
    std::string prose;
};

std::optional<DocumentParts> splitDocument(std::string_view text) {
    const auto lineAt = [&](std::size_t begin) {
        std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        return line;
    };
    if (text.starts_with("\xEF\xBB\xBF"))
        text.remove_prefix(3);
    if (lineAt(0) != "---")
        return std::nullopt;
    const std::size_t first = text.find('\n');
    if (first == std::string_view::npos)
        return std::nullopt;
    for (std::size_t begin = first + 1; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        if (lineAt(begin) == "---") {
            std::string_view prose =
                end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
            prose.remove_prefix(std::min(prose.find_first_not_of("\r\n"), prose.size()));
            return DocumentParts{std::string(text.substr(first + 1, begin - first - 1)),
                                 std::string(prose)};
        }
        if (end == std::string_view::npos)
            break;
        begin = end + 1;
    }
    return std::nullopt;
}

std::expected<YAML::Node, FieldError> required(const YAML::Node& root, std::string_view name) {
    YAML::Node node = root[std::string(name)];
    if (!node.IsDefined() || node.IsNull())
        return std::unexpected(FieldError{1, fmt::format("field '{}' is missing", name)});
    return node;
}

std::expected<std::string, FieldError> textField(const YAML::Node& root, std::string_view name) {
    auto node = required(root, name);
    if (!node)
        return std::unexpected(node.error());
    if (!node->IsScalar() || node->Scalar().empty())
        return std::unexpected(
            FieldError{documentLine(node->Mark()), fmt::format("field '{}' must be a text", name)});
    std::string value = node->Scalar();
    while (value.ends_with('\n'))
        value.pop_back();
    return value;
}

std::expected<std::vector<std::string>, FieldError> listField(const YAML::Node& root,
                                                              std::string_view name) {
    auto node = required(root, name);
    if (!node)
        return std::unexpected(node.error());
    const auto wrong = [&](const YAML::Node& at) {
        return std::unexpected(FieldError{documentLine(at.Mark()),
                                          fmt::format("field '{}' must be a list of texts", name)});
    };
    if (!node->IsSequence() || node->size() == 0)
        return wrong(*node);
    std::vector<std::string> values;
    for (const YAML::Node& item : *node) {
        if (!item.IsScalar() || item.Scalar().empty())
            return wrong(item);
        values.push_back(item.Scalar());
    }
    return values;
}

template <typename Value, std::size_t count>
std::expected<Value, FieldError>
namedField(const YAML::Node& root, std::string_view name,
           const std::array<std::pair<std::string_view, Value>, count>& spellings) {
    auto text = textField(root, name);
    if (!text)
        return std::unexpected(text.error());
    std::string known;
    for (const auto& [spelled, value] : spellings) {
        if (spelled == *text)
            return value;
        known += fmt::format("{}'{}'", known.empty() ? "" : ", ", spelled);
    }
    return std::unexpected(
        FieldError{documentLine(root[std::string(name)].Mark()),
                   fmt::format("field '{}' is '{}'; known are {}", name, *text, known)});
}

std::expected<void, FieldError> requireKnownFields(const YAML::Node& root) {
    for (const auto& field : root) {
        const bool isKnown = field.first.IsScalar() &&
                             std::ranges::find(fields, field.first.Scalar()) != fields.end();
        if (!isKnown)
            return std::unexpected(FieldError{
                documentLine(field.first.Mark()),
                fmt::format("unknown field '{}'",
                            field.first.IsScalar() ? field.first.Scalar() : "(not a name)")});
    }
    return {};
}

std::expected<SkillMetadata, FieldError> readFields(const YAML::Node& root) {
    SkillMetadata skill;
    if (!root.IsMap())
        return std::unexpected(FieldError{2, "the front matter must be `field: value` lines"});
    if (auto known = requireKnownFields(root); !known)
        return std::unexpected(known.error());
    std::optional<FieldError> error;
    const auto store = [&](auto& target, auto value) {
        if (value)
            target = std::move(*value);
        else if (!error)
            error = value.error();
    };
    store(skill.id, textField(root, "id"));
    store(skill.title, textField(root, "title"));
    store(skill.kind, namedField(root, "kind", kinds));
    store(skill.numerics, namedField(root, "numerics", numericsNames));
    store(skill.bottlenecks, listField(root, "bottlenecks"));
    store(skill.when, listField(root, "when"));
    store(skill.expectedGain, textField(root, "expected_gain"));
    store(skill.failureModes, listField(root, "failure_modes"));
    store(skill.sources, listField(root, "sources"));
    if (error)
        return std::unexpected(*error);
    return skill;
}

Error documentError(std::string_view path, int line, std::string what) {
    return Error{ErrorKind::InvalidInput, std::move(what), fmt::format("{}:{}", path, line),
                 "Compare it with the SKILL.md files of the built-in skills"};
}

template <typename Value, std::size_t count>
std::string_view spelled(Value value,
                         const std::array<std::pair<std::string_view, Value>, count>& spellings) {
    const auto found =
        std::ranges::find(spellings, value, [](const auto& pair) { return pair.second; });
    return found == spellings.end() ? std::string_view{} : found->first;
}

} // namespace

Result<SkillMetadata> parseSkillDocument(std::string_view text, std::string_view path) {
    const auto parts = splitDocument(text);
    if (!parts)
        return std::unexpected(documentError(
            path, 1, "a skill document starts with front matter between two lines of ---"));
    YAML::Node root;
    try {
        root = YAML::Load(parts->frontMatter);
        auto skill = readFields(root);
        if (!skill)
            return std::unexpected(documentError(path, skill.error().line, skill.error().what));
        skill->method = parts->prose;
        if (skill->method.empty())
            return std::unexpected(
                documentError(path, 1, "the method is missing below the front matter"));
        return *skill;
    } catch (const YAML::Exception& exception) { // yaml-cpp reports by exception only
        return std::unexpected(documentError(path, documentLine(exception.mark),
                                             fmt::format("not valid YAML: {}", exception.msg)));
    }
}

SkillDocuments loadSkillDocuments(const std::filesystem::path& directory) {
    SkillDocuments documents;
    std::error_code failure;
    std::vector<std::filesystem::path> paths;
    for (std::filesystem::directory_iterator entry(directory, failure), end;
         !failure && entry != end; entry.increment(failure)) {
        const std::filesystem::path document = entry->path() / "SKILL.md";
        std::error_code ignored;
        if (std::filesystem::is_regular_file(document, ignored))
            paths.push_back(document);
    }
    if (failure)
        documents.errors.push_back({ErrorKind::Missing,
                                    "cannot list the skills: " + failure.message(),
                                    directory.string(), ""});
    std::ranges::sort(paths);
    for (const auto& path : paths) {
        const auto text = analysis::readFile(path);
        if (!text) {
            documents.errors.push_back({ErrorKind::InvalidInput, "cannot read", path.string(), ""});
            continue;
        }
        auto skill = parseSkillDocument(*text, path.string());
        if (!skill) {
            documents.errors.push_back(std::move(skill.error()));
        } else if (skill->id != path.parent_path().filename()) {
            documents.errors.push_back(documentError(
                path.string(), 1, fmt::format("id '{}' is not the name of its folder", skill->id)));
        } else {
            documents.skills.push_back(std::move(*skill));
        }
    }
    return documents;
}

std::string_view spelling(SkillKind kind) {
    return spelled(kind, kinds);
}
std::string_view spelling(Numerics numerics) {
    return spelled(numerics, numericsNames);
}

} // namespace kernelskill::skills
