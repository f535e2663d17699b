#include "engine/model/dialect.h"

#include "analysis/source/json.h"
#include "analysis/source/json_reading.h"

#include <algorithm>

namespace kernelskill::engine {

std::string serviceMessage(std::string_view body) {
    constexpr std::size_t longest = 300;
    std::string message(body);
    if (const auto json = analysis::parseJson(body); json.is_object()) {
        const auto error = json.value("error", nlohmann::json());
        if (error.is_string())
            message = error.get<std::string>();
        else if (error.is_object() && error.contains("message") && error["message"].is_string())
            message = error["message"].get<std::string>();
    }
    message.resize(std::min(message.size(), longest));
    std::ranges::replace_if(message, [](char c) { return c < ' ' || c > '~'; }, ' ');
    return message;
}

} // namespace kernelskill::engine
