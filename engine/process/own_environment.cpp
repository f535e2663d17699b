#include "engine/process/own_environment.h"

#include <algorithm>
#include <string_view>
#include <unistd.h>

namespace kernelskill::engine {

std::vector<std::string>
ownEnvironmentWith(const std::vector<std::pair<std::string, std::string>>& added) {
    std::vector<std::string> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text = *variable;
        const auto name = text.substr(0, text.find('='));
        if (std::ranges::none_of(added, [&](const auto& each) { return each.first == name; }))
            variables.emplace_back(text);
    }
    for (const auto& [name, value] : added)
        variables.push_back(name + "=" + value);
    return variables;
}

} // namespace kernelskill::engine
