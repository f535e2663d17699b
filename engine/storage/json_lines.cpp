#include "engine/storage/json_lines.h"

#include "analysis/source/json.h"
#include "analysis/source/json_nesting.h"

namespace kernelskill::engine {

using Json = nlohmann::json;

std::string jsonLine(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string jsonLinesHead(std::string_view kind, int version) {
    return jsonLine({{"kind", kind}, {"version", version}});
}

bool readJsonLines(std::string_view text, std::string_view kind, int version,
                   const std::function<bool(const Json& line)>& take) {
    bool isHead = true;
    try {
        for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
            const std::string_view line = text.substr(0, end);
            text.remove_prefix(end + 1);
            if (analysis::isNestedTooDeeply(line))
                return false;
            const Json json = Json::parse(line);
            if (isHead ? json.at("kind") != kind || json.at("version") != version : !take(json))
                return false;
            isHead = false;
        }
    } catch (const Json::exception&) {
        return false;
    }
    return !isHead;
}

} // namespace kernelskill::engine
