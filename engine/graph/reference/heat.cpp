#include "engine/graph/reference/heat.h"

#include "analysis/source/json.h"
#include "engine/graph/reference/torch_json.h"

#include <utility>

namespace kernelskill::engine::graph {

using Json = nlohmann::json;
using std::chrono::milliseconds;

Json toJson(const TorchHeatRequest& request) {
    Json libraries = Json::array();
    for (const std::filesystem::path& library : request.libraries)
        libraries.push_back(library.string());
    return {{"subject", toJson(request.subject)},
            {"libraries", std::move(libraries)},
            {"rounds", request.rounds},
            {"longest", request.longest.count()},
            {"milliseconds", request.time.count()}};
}

TorchHeatRequest heatRequestFrom(const Json& json) {
    TorchHeatRequest request;
    request.subject = subjectFrom(json.at("subject"));
    for (const Json& library : json.at("libraries"))
        request.libraries.emplace_back(library.get<std::string>());
    json.at("rounds").get_to(request.rounds);
    request.longest = milliseconds(json.at("longest").get<std::int64_t>());
    request.time = milliseconds(json.at("milliseconds").get<std::int64_t>());
    return request;
}

Json toJson(const TorchHeat& heat) {
    Json lanes = Json::array();
    for (const HeatLane& lane : heat.lanes)
        lanes.push_back(
            {{"timing", lane.timing ? toJson(*lane.timing) : Json()}, {"why", lane.why}});
    return {{"lanes", std::move(lanes)}, {"on", heat.device}};
}

TorchHeat heatFrom(const Json& json) {
    TorchHeat heat;
    for (const Json& each : json.at("lanes")) {
        HeatLane lane;
        if (!each.at("timing").is_null())
            lane.timing = timingFrom(each.at("timing"));
        each.at("why").get_to(lane.why);
        heat.lanes.push_back(std::move(lane));
    }
    json.at("on").get_to(heat.device);
    return heat;
}

} // namespace kernelskill::engine::graph
