#include "engine/program/vscode_variables.h"

#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/program/command_words.h"
#include "engine/program/json_with_comments.h"

#include <spdlog/fmt/fmt.h>

#include <cstdlib>
#include <optional>

namespace kernelskill::engine {

using nlohmann::json;

namespace {

std::string environmentValue(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? "" : value;
}

std::optional<std::string> valueOf(std::string_view name, const std::filesystem::path& folder) {
    if (name == "workspaceFolder" || name == "workspaceRoot" || name == "cwd")
        return folder.string();
    if (name == "workspaceFolderBasename")
        return folder.filename().string();
    if (name == "userHome")
        return environmentValue("HOME");
    if (name == "pathSeparator" || name == "/")
        return "/";
    if (name.starts_with("env:"))
        return environmentValue(std::string(name.substr(4)));
    return std::nullopt;
}

/// The text of `"x"` or `{"value": "x"}`.
std::optional<std::string> textOf(const json& value) {
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_number_integer() || value.is_boolean())
        return value.dump();
    if (value.is_object() && value.contains("value") && value["value"].is_string())
        return value["value"].get<std::string>();
    return std::nullopt;
}

Error unfit(const char* key, std::string_view wanted) {
    return {ErrorKind::InvalidInput, fmt::format("`{}` is not {}", key, wanted), {}, {}};
}

} // namespace

Result<std::string> VscodeVariables::replaced(std::string_view text) const {
    std::string result;
    while (!text.empty()) {
        const auto begin = text.find("${");
        result += text.substr(0, begin);
        if (begin == std::string_view::npos)
            break;
        const auto end = text.find('}', begin);
        if (end == std::string_view::npos) {
            result += text.substr(begin);
            break;
        }
        const auto name = text.substr(begin + 2, end - begin - 2);
        const auto value = valueOf(name, folder_);
        if (!value)
            return std::unexpected(Error{
                ErrorKind::Unsupported, fmt::format("only VS Code knows ${{{}}}", name), {}, {}});
        result += *value;
        text.remove_prefix(end + 1);
    }
    return result;
}

Result<std::vector<std::string>> VscodeVariables::words(const json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null())
        return {};
    if (found->is_string()) {
        KERNELSKILL_TRY(const auto line, replaced(found->get<std::string>()));
        return commandWords(line);
    }
    if (!found->is_array())
        return std::unexpected(unfit(key, "a list of texts"));
    std::vector<std::string> words;
    for (const json& element : *found) {
        const auto text = textOf(element);
        if (!text)
            return std::unexpected(unfit(key, "a list of texts"));
        KERNELSKILL_TRY(auto word, replaced(*text));
        words.push_back(std::move(word));
    }
    return words;
}

Result<std::vector<std::pair<std::string, std::string>>>
VscodeVariables::environment(const json& object, const char* key) const {
    std::vector<std::pair<std::string, std::string>> variables;
    const auto add = [&](const std::string& name, const json& value) -> Result<void> {
        if (value.is_null()) // It would be removed.
            return {};
        const auto text = textOf(value);
        if (name.empty() || !text)
            return std::unexpected(unfit(key, "names and texts"));
        KERNELSKILL_TRY(auto expanded, replaced(*text));
        variables.emplace_back(name, std::move(expanded));
        return {};
    };
    const auto found = object.find(key);
    if (found == object.end() || found->is_null())
        return variables;
    if (found->is_object()) {
        for (const auto& [name, value] : found->items())
            KERNELSKILL_CHECK(add(name, value));
        return variables;
    }
    if (!found->is_array())
        return std::unexpected(unfit(key, "names and texts"));
    for (const json& variable : *found)
        KERNELSKILL_CHECK(add(variable.is_object() ? textOfKey(variable, "name") : "",
                              variable.is_object() ? variable.value("value", json()) : json()));
    return variables;
}

Result<std::filesystem::path> VscodeVariables::path(const json& object, const char* key) const {
    const std::string text = textOfKey(object, key);
    if (text.empty())
        return folder_;
    KERNELSKILL_TRY(const auto expanded, replaced(text));
    auto path = (folder_ / expanded).lexically_normal();
    return path.has_filename() ? path : path.parent_path();
}

json forLinux(const json& object) {
    json merged = object;
    if (const auto own = object.find("linux"); own != object.end() && own->is_object())
        merged.update(*own);
    return merged;
}

} // namespace kernelskill::engine
