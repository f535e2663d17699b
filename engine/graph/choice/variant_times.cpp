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

std::optional<std::size_t> preferredOf(const std::vector<VariantTime>& times) {
    constexpr double equallyFast = 1.01;
    std::optional<double> fastest;
    for (const VariantTime& time : times)
        if (time.microseconds && (!fastest || *time.microseconds < *fastest))
            fastest = time.microseconds;
    for (std::size_t i = 0; i < times.size(); ++i)
        if (times[i].microseconds && *times[i].microseconds <= *fastest * equallyFast)
            return i;
    return std::nullopt;
}

std::vector<std::size_t> preferredOrder(std::vector<VariantTime> times) {
    std::vector<std::size_t> order;
    while (const auto next = preferredOf(times)) {
        order.push_back(*next);
        times[*next].microseconds.reset();
    }
    return order;
}

} // namespace kernelskill::engine::graph
