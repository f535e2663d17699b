#include "skills/front_matter.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

namespace {

/// Line in the document of a place in the front matter, whose first line is the document's second.
int documentLine(const YAML::Mark& mark) {
    return mark.is_null() ? 1 : mark.line + 2;
}

struct DocumentParts {
    std::string frontMatter;
    std::string prose;
    int proseLine = 1;
};

std::optional<DocumentParts> split(std::string_view text) {
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
            const std::string_view head = text.substr(0, text.size() - prose.size());
            return DocumentParts{std::string(text.substr(first + 1, begin - first - 1)),
                                 std::string(prose),
                                 static_cast<int>(std::ranges::count(head, '\n')) + 1};
        }
        if (end == std::string_view::npos)
            break;
        begin = end + 1;
    }
    return std::nullopt;
}

} // namespace

Error documentError(std::string_view path, const DocumentProblem& problem) {
    return Error{ErrorKind::InvalidInput, problem.what, fmt::format("{}:{}", path, problem.line),
                 "Compare it with the SKILL.md files of the built-in skills"};
}

Read<FrontMatter> FrontMatter::parse(std::string_view document) {
    auto parts = split(document);
    if (!parts)
        return std::unexpected(DocumentProblem{
            1, "a skill document starts with front matter between two lines of ---"});
    FrontMatter result;
    result.prose_ = std::move(parts->prose);
    result.proseLine_ = parts->proseLine;
    try {
        result.root_ = YAML::Load(parts->frontMatter);
    } catch (const YAML::Exception& exception) { // yaml-cpp reports by exception only
        return std::unexpected(DocumentProblem{documentLine(exception.mark),
                                               fmt::format("not valid YAML: {}", exception.msg)});
    }
    if (!result.root_.IsMap())
        return std::unexpected(DocumentProblem{2, "the front matter must be `field: value` lines"});
    return result;
}

bool FrontMatter::has(std::string_view field) const {
    const YAML::Node node = root_[std::string(field)];
    return node.IsDefined() && !node.IsNull();
}

int FrontMatter::lineOf(std::string_view field) const {
    return has(field) ? documentLine(root_[std::string(field)].Mark()) : 1;
}

Read<YAML::Node> FrontMatter::required(std::string_view field) const {
    if (!has(field))
        return std::unexpected(DocumentProblem{1, fmt::format("field '{}' is missing", field)});
    return root_[std::string(field)];
}

Read<std::string> FrontMatter::text(std::string_view field) const {
    const auto node = required(field);
    if (!node)
        return std::unexpected(node.error());
    if (!node->IsScalar() || node->Scalar().empty())
        return std::unexpected(DocumentProblem{documentLine(node->Mark()),
                                               fmt::format("field '{}' must be a text", field)});
    std::string value = node->Scalar();
    while (value.ends_with('\n'))
        value.pop_back();
    return value;
}

Read<std::vector<std::string>> FrontMatter::list(std::string_view field) const {
    const auto node = required(field);
    if (!node)
        return std::unexpected(node.error());
    const auto wrong = [&](const YAML::Node& at) {
        return std::unexpected(DocumentProblem{
            documentLine(at.Mark()), fmt::format("field '{}' must be a list of texts", field)});
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

Read<std::vector<FrontMatter::Entry>> FrontMatter::map(std::string_view field) const {
    const auto node = required(field);
    if (!node)
        return std::unexpected(node.error());
    const auto wrong = [&](const YAML::Node& at) {
        return std::unexpected(DocumentProblem{
            documentLine(at.Mark()), fmt::format("field '{}' must be `name: text` lines", field)});
    };
    if (!node->IsMap())
        return wrong(*node);
    std::vector<Entry> entries;
    for (const auto& entry : *node) {
        if (!entry.first.IsScalar() || !entry.second.IsScalar())
            return wrong(entry.first);
        entries.push_back(
            {entry.first.Scalar(), entry.second.Scalar(), documentLine(entry.first.Mark())});
    }
    return entries;
}

Read<void> FrontMatter::requireOnly(std::span<const std::string_view> known) const {
    for (const auto& field : root_) {
        const bool isKnown =
            field.first.IsScalar() && std::ranges::find(known, field.first.Scalar()) != known.end();
        if (!isKnown)
            return std::unexpected(DocumentProblem{
                documentLine(field.first.Mark()),
                fmt::format("unknown field '{}'",
                            field.first.IsScalar() ? field.first.Scalar() : "(not a name)")});
    }
    return {};
}

DocumentProblem FrontMatter::notKnown(std::string_view field, std::string_view value,
                                      const std::vector<std::string_view>& known) const {
    return {lineOf(field), fmt::format("field '{}' is '{}'; known are '{}'", field, value,
                                       fmt::join(known, "', '"))};
}

} // namespace kernelskill::skills
