#include "engine/program/json_with_comments.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "analysis/source/json_reading.h"

#include <algorithm>
#include <optional>

namespace kernelskill::engine {
namespace {

/// The place behind the string literal that begins at `at`.
std::size_t endOfString(std::string_view text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at)
        at += text[at] == '\\' ? 1 : 0;
    return std::min(at + 1, text.size());
}

/// The place behind the comment that begins at `at`; `at` if none does.
std::size_t endOfComment(std::string_view text, std::size_t at) {
    if (text.substr(at).starts_with("//"))
        return std::min(text.find('\n', at), text.size());
    if (!text.substr(at).starts_with("/*"))
        return at;
    const auto end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
}

} // namespace

std::string plainJson(std::string_view text) {
    std::string plain(text);
    std::optional<std::size_t> comma; // with nothing but blanks and comments behind it
    if (text.starts_with("\xEF\xBB\xBF"))
        plain.replace(0, 3, "   ");
    for (std::size_t at = 0; at < text.size();) {
        if (const auto end = endOfComment(text, at); end != at) {
            for (; at < end; ++at)
                plain[at] = text[at] == '\n' ? '\n' : ' ';
            continue;
        }
        const char c = plain[at];
        if (comma && (c == ']' || c == '}'))
            plain[*comma] = ' ';
        if (c == ',')
            comma = at;
        else if (!std::string_view(" \t\r\n").contains(c))
            comma.reset();
        at = c == '"' ? endOfString(text, at) : at + 1;
    }
    return plain;
}

Result<nlohmann::json> readJsonWithComments(const std::filesystem::path& file) {
    const auto text = analysis::readFile(file);
    if (!text)
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     "the file cannot be read: " + analysis::unreadableReason(file),
                                     file.string(),
                                     {}});
    const std::string plain = plainJson(*text);
    auto document = analysis::parseJson(plain);
    if (document.is_discarded())
        return std::unexpected(Error{ErrorKind::InvalidInput, "the file is no JSON", file.string(),
                                     "correct it: brackets, quotes and commas have to match"});
    return document;
}

std::string textOfKey(const nlohmann::json& object, const char* key) {
    if (!object.is_object())
        return {};
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

} // namespace kernelskill::engine
