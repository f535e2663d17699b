#include "engine/graph/reference/torch_wire.h"

#include "analysis/source/json.h"
#include "engine/graph/reference/torch_json.h"
#include "engine/process/error_json.h"
#include "engine/process/framing.h"

#include <utility>

namespace kernelskill::engine::graph {
namespace {

using std::chrono::milliseconds;
using Json = nlohmann::json;

template <typename... Alternatives>
struct Overloaded : Alternatives... {
    using Alternatives::operator()...;
};

Json toJson(const TorchVersion& version) {
    return {{"version", version.version},
            {"cuda", version.isBuiltWithCuda},
            {"devices", version.devices},
            {"lacking", version.lacking},
            {"decomposed", version.decomposed}};
}

TorchVersion versionFrom(const Json& json) {
    TorchVersion version;
    json.at("version").get_to(version.version);
    json.at("cuda").get_to(version.isBuiltWithCuda);
    json.at("devices").get_to(version.devices);
    json.at("lacking").get_to(version.lacking);
    json.at("decomposed").get_to(version.decomposed);
    return version;
}

Json toJson(const TorchRun& run) {
    Json outputs = Json::array();
    for (const auto& output : run.outputs)
        outputs.push_back(output ? toJson(*output) : Json());
    Json values = Json::object();
    for (const auto& [name, tensor] : run.values)
        values[name] = toJson(tensor);
    return {{"outputs", std::move(outputs)}, {"values", std::move(values)}};
}

TorchRun runFrom(const Json& json) {
    TorchRun run;
    for (const Json& output : json.at("outputs"))
        run.outputs.push_back(output.is_null() ? std::nullopt : std::optional(tensorFrom(output)));
    for (const auto& [name, tensor] : json.at("values").items())
        run.values.emplace(name, tensorFrom(tensor));
    return run;
}

[[noreturn]] void unknownMessage() {
    throw Json::other_error::create(501, "unknown message", nullptr);
}

constexpr milliseconds shortRequest{60'000};

} // namespace

milliseconds timeLimit(const TorchRequest& request) {
    if (const auto* run = std::get_if<TorchRunRequest>(&request))
        return run->time;
    if (const auto* timing = std::get_if<TorchTimingRequest>(&request))
        return timing->time;
    if (const auto* judge = std::get_if<TorchJudgeRequest>(&request))
        return judge->time;
    if (const auto* heat = std::get_if<TorchHeatRequest>(&request))
        return heat->time;
    if (const auto* mix = std::get_if<TorchMixRequest>(&request))
        return mix->time;
    return shortRequest;
}

std::vector<std::byte> encode(const TorchRequest& request) {
    return wire::frame(
        std::visit(Overloaded{[](const TorchVersionRequest& version) {
                                  return Json{{"do", "version"}, {"operators", version.operators}};
                              },
                              [](const TorchRunRequest& run) {
                                  return Json{{"do", "run"},
                                              {"subject", toJson(run.subject)},
                                              {"keep", run.keep},
                                              {"keepsAll", run.keepsAll},
                                              {"milliseconds", run.time.count()}};
                              },
                              [](const TorchTimingRequest& timing) {
                                  return Json{{"do", "time"},
                                              {"subject", toJson(timing.subject)},
                                              {"warmUp", timing.warmUpRounds},
                                              {"rounds", timing.rounds},
                                              {"longest", timing.longest.count()},
                                              {"milliseconds", timing.time.count()}};
                              },
                              [](const TorchJudgeRequest& judge) {
                                  return Json{{"do", "judge"}, {"request", toJson(judge)}};
                              },
                              [](const TorchHeatRequest& heat) {
                                  return Json{{"do", "heat"}, {"request", toJson(heat)}};
                              },
                              [](const TorchMixRequest& mix) {
                                  return Json{{"do", "mix"}, {"request", toJson(mix)}};
                              }},
                   request));
}

Result<TorchRequest> decodeTorchRequest(std::span<const std::byte> payload) {
    return wire::decodeFrame<TorchRequest>(payload, [](const Json& json) -> TorchRequest {
        const auto what = json.at("do").get<std::string>();
        if (what == "version") {
            TorchVersionRequest version;
            json.at("operators").get_to(version.operators);
            return version;
        }
        if (what == "run") {
            TorchRunRequest run;
            run.subject = subjectFrom(json.at("subject"));
            json.at("keep").get_to(run.keep);
            json.at("keepsAll").get_to(run.keepsAll);
            run.time = milliseconds(json.at("milliseconds").get<std::int64_t>());
            return run;
        }
        if (what == "time") {
            TorchTimingRequest timing;
            timing.subject = subjectFrom(json.at("subject"));
            json.at("warmUp").get_to(timing.warmUpRounds);
            json.at("rounds").get_to(timing.rounds);
            timing.longest = milliseconds(json.at("longest").get<std::int64_t>());
            timing.time = milliseconds(json.at("milliseconds").get<std::int64_t>());
            return timing;
        }
        if (what == "judge")
            return judgeRequestFrom(json.at("request"));
        if (what == "heat")
            return heatRequestFrom(json.at("request"));
        if (what == "mix")
            return mixRequestFrom(json.at("request"));
        unknownMessage();
    });
}

std::vector<std::byte> encode(const TorchAnswer& answer) {
    return wire::frame(std::visit(
        Overloaded{
            [](const TorchVersion& version) { return Json{{"version", toJson(version)}}; },
            [](const TorchRun& run) { return Json{{"run", toJson(run)}}; },
            [](const TorchTiming& timing) { return Json{{"timing", toJson(timing)}}; },
            [](const Judgement& judgement) { return Json{{"judgement", toJson(judgement)}}; },
            [](const TorchHeat& heat) { return Json{{"heat", toJson(heat)}}; },
            [](const TorchMixes& mixes) { return Json{{"mixes", toJson(mixes)}}; },
            [](const TorchFailure& failure) {
                return Json{{"error", wire::toJson(failure.error)}, {"fatal", failure.isFatal}};
            }},
        answer));
}

Result<TorchAnswer> decodeTorchAnswer(std::span<const std::byte> payload) {
    return wire::decodeFrame<TorchAnswer>(payload, [](const Json& json) -> TorchAnswer {
        if (json.contains("version"))
            return versionFrom(json.at("version"));
        if (json.contains("run"))
            return runFrom(json.at("run"));
        if (json.contains("timing"))
            return timingFrom(json.at("timing"));
        if (json.contains("judgement"))
            return judgementFrom(json.at("judgement"));
        if (json.contains("heat"))
            return heatFrom(json.at("heat"));
        if (json.contains("mixes"))
            return mixesFrom(json.at("mixes"));
        if (json.contains("error")) {
            TorchFailure failure;
            wire::fromJson(json.at("error"), failure.error);
            json.at("fatal").get_to(failure.isFatal);
            return failure;
        }
        unknownMessage();
    });
}

} // namespace kernelskill::engine::graph
