#include "engine/graph/reference/mix.h"

#include "analysis/source/json.h"
#include "engine/graph/reference/torch_json.h"

#include <array>
#include <limits>
#include <string_view>
#include <utility>

namespace kernelskill::engine::graph {

using Json = nlohmann::json;
using std::chrono::milliseconds;

namespace {

constexpr std::array<std::string_view, 3> outcomeNames{"right", "wrong", "not compared"};

MixVerdict::Outcome outcomeFrom(const std::string& name) {
    for (std::size_t i = 0; i < outcomeNames.size(); ++i)
        if (name == outcomeNames[i])
            return static_cast<MixVerdict::Outcome>(i);
    throw Json::other_error::create(501, "unknown outcome", nullptr);
}

Tolerance toleranceFrom(const Json& json) {
    if (const auto tolerance = toleranceOf(json.get_ref<const std::string&>()))
        return *tolerance;
    throw Json::other_error::create(501, "unknown tolerance", nullptr);
}

} // namespace

Json toJson(const TorchMixRequest& request) {
    Json libraries = Json::array();
    for (const PartLibrary& each : request.libraries) {
        Json json{{"library", each.library.string()}};
        if (each.part)
            json["part"] = toJson(*each.part);
        libraries.push_back(std::move(json));
    }
    return {{"subject", toJson(request.subject)},
            {"libraries", std::move(libraries)},
            {"mixes", request.mixes},
            {"tolerance", nameOf(request.tolerance)},
            {"share", request.share},
            {"longest", request.longest.count()},
            {"milliseconds", request.time.count()}};
}

TorchMixRequest mixRequestFrom(const Json& json) {
    TorchMixRequest request;
    request.subject = subjectFrom(json.at("subject"));
    for (const Json& each : json.at("libraries")) {
        PartLibrary& library = request.libraries.emplace_back();
        library.library = each.at("library").get<std::string>();
        if (each.contains("part"))
            library.part = partFrom(each.at("part"));
    }
    json.at("mixes").get_to(request.mixes);
    for (const auto& mix : request.mixes)
        for (const std::size_t library : mix)
            if (library >= request.libraries.size())
                throw Json::other_error::create(501, "a mix of a library that is none", nullptr);
    request.tolerance = toleranceFrom(json.at("tolerance"));
    json.at("share").get_to(request.share);
    request.longest = milliseconds(json.at("longest").get<std::int64_t>());
    request.time = milliseconds(json.at("milliseconds").get<std::int64_t>());
    return request;
}

Json toJson(const MixVerdict& verdict) {
    // JSON has no infinity: null.
    const bool isFinite = verdict.error < std::numeric_limits<double>::infinity();
    return {{"outcome", outcomeNames.at(static_cast<std::size_t>(verdict.outcome))},
            {"error", isFinite ? Json(verdict.error) : Json()},
            {"worst", verdict.worst},
            {"why", verdict.why},
            {"leftOut", verdict.leftOut}};
}

MixVerdict mixVerdictFrom(const Json& json) {
    MixVerdict verdict;
    verdict.outcome = outcomeFrom(json.at("outcome").get<std::string>());
    const Json& error = json.at("error");
    verdict.error = error.is_null() ? std::numeric_limits<double>::infinity() : error.get<double>();
    json.at("worst").get_to(verdict.worst);
    json.at("why").get_to(verdict.why);
    json.at("leftOut").get_to(verdict.leftOut);
    return verdict;
}

Json toJson(const TorchMixes& mixes) {
    Json verdicts = Json::array();
    for (const MixVerdict& verdict : mixes.verdicts)
        verdicts.push_back(toJson(verdict));
    return {{"verdicts", std::move(verdicts)}};
}

TorchMixes mixesFrom(const Json& json) {
    TorchMixes mixes;
    for (const Json& verdict : json.at("verdicts"))
        mixes.verdicts.push_back(mixVerdictFrom(verdict));
    return mixes;
}

} // namespace kernelskill::engine::graph
