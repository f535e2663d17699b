#include "engine/graph/choice/variant_times.h"

#include "analysis/source/json.h"

namespace kernelskill::engine::graph {

using Json = nlohmann::json;

std::string textOf(const std::vector<VariantTime>& times) {
    Json list = Json::array();
    for (const VariantTime& time : times)
        list.push_back({{"us", time.microseconds ? Json(*time.microseconds) : Json()},
                        {"spread", time.spread},
                        {"why", time.why}});
    return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::vector<VariantTime>> variantTimesFrom(const std::string& text) {
    try {
        std::vector<VariantTime> times;
        for (const Json& each : Json::parse(text)) {
            VariantTime time;
            if (!each.at("us").is_null())
                time.microseconds = each.at("us").get<double>();
            each.at("spread").get_to(time.spread);
            each.at("why").get_to(time.why);
            times.push_back(std::move(time));
        }
        return times;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

} // namespace kernelskill::engine::graph
