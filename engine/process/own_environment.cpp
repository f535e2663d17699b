#include "engine/process/own_environment.h"

#include <algorithm>
#include <string_view>
#include <unistd.h>

namespace kernelskill::engine {

std::vector<std::string>
ownEnvironmentWith(const std::vector<std::pair<std::string, std::string>>& added,
                   const std::filesystem::path& folder) {
    std::vector<std::string> variables;
    const auto isAdded = [&](std::string_view name) {
        return std::ranges::any_of(added, [&](const auto& each) { return each.first == name; });
    };
    const auto isOfFolder = [&](std::string_view name) {
        return !folder.empty() && (name == "PWD" || name == "OLDPWD");
    };
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text = *variable;
        const auto name = text.substr(0, text.find('='));
        if (!isAdded(name) && !isOfFolder(name))
            variables.emplace_back(text);
    }
    if (!folder.empty() && !isAdded("PWD"))
        variables.push_back("PWD=" + folder.string());
    for (const auto& [name, value] : added)
        variables.push_back(name + "=" + value);
    return variables;
}

} // namespace kernelskill::engine
