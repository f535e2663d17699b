#include "engine/graph/reference/judgement.h"

#include "analysis/source/json.h"
#include "engine/execution/launch_json.h"
#include "engine/graph/reference/torch_json.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace kernelskill::engine::graph {

using std::chrono::milliseconds;
using wire::Json;
using wire::number;
using wire::readEnum;

namespace {

constexpr std::array<std::string_view, 6> distributionNames{
    "normal", "uniform", "one-sign", "large-magnitude", "with-zeros", "denormals"};

/// JSON has no infinity: null.
Json numberOrNull(double value) {
    return value < std::numeric_limits<double>::infinity() ? Json(value) : Json();
}

double numberFrom(const Json& json) {
    return json.is_null() ? std::numeric_limits<double>::infinity() : json.get<double>();
}

Json toJson(const TrialResult& trial) {
    Json json{{"seed", trial.seed},
              {"distribution", nameOf(trial.distribution)},
              {"symbols", trial.symbols},
              {"defaultStream", trial.isOnDefaultStream},
              {"float64", trial.isFloat64},
              {"error", numberOrNull(trial.error)},
              {"within1e-2", trial.isWithinLoose},
              {"within1e-4", trial.isWithinTight},
              {"worst", trial.worst}};
    if (trial.eagerError)
        json["eagerError"] = numberOrNull(*trial.eagerError);
    return json;
}

Distribution distributionFrom(const Json& json) {
    const auto found = std::ranges::find(distributionNames, json.get<std::string>());
    if (found == distributionNames.end())
        throw Json::other_error::create(501, "unknown distribution", nullptr);
    return static_cast<Distribution>(found - distributionNames.begin());
}

TrialResult trialFrom(const Json& json) {
    TrialResult trial;
    json.at("seed").get_to(trial.seed);
    trial.distribution = distributionFrom(json.at("distribution"));
    json.at("symbols").get_to(trial.symbols);
    json.at("defaultStream").get_to(trial.isOnDefaultStream);
    json.at("float64").get_to(trial.isFloat64);
    trial.error = numberFrom(json.at("error"));
    if (json.contains("eagerError"))
        trial.eagerError = numberFrom(json.at("eagerError"));
    json.at("within1e-2").get_to(trial.isWithinLoose);
    json.at("within1e-4").get_to(trial.isWithinTight);
    json.at("worst").get_to(trial.worst);
    return trial;
}

/// Adds medians and spreads, so that readers need not compute them.
Json summary(const TorchTiming& timing) {
    Json json = graph::toJson(timing);
    json["median"] = timing.median();
    json["spread"] = timing.spread();
    return json;
}

Json toJson(const JudgedTimes& times) {
    Json json{{"candidate", summary(times.candidate)},
              {"eager", summary(times.eager)},
              {"whyNotReplayed", times.whyNotReplayed},
              {"wallMicroseconds", times.wallMicroseconds},
              {"inputCopies", times.inputCopies}};
    if (times.replayed)
        json["replayed"] = summary(*times.replayed);
    return json;
}

JudgedTimes timesFrom(const Json& json) {
    JudgedTimes times;
    times.candidate = timingFrom(json.at("candidate"));
    times.eager = timingFrom(json.at("eager"));
    if (json.contains("replayed"))
        times.replayed = timingFrom(json.at("replayed"));
    json.at("whyNotReplayed").get_to(times.whyNotReplayed);
    json.at("wallMicroseconds").get_to(times.wallMicroseconds);
    json.at("inputCopies").get_to(times.inputCopies);
    return times;
}

} // namespace

std::string_view nameOf(Distribution distribution) {
    const auto index = static_cast<std::size_t>(distribution);
    return index < distributionNames.size() ? distributionNames[index] : "unknown";
}

bool Judgement::isWithinLoose() const {
    return !isRefused() && std::ranges::all_of(trials, &TrialResult::isWithinLoose);
}

bool Judgement::isWithinTight() const {
    return !isRefused() && std::ranges::all_of(trials, &TrialResult::isWithinTight);
}

Json toJson(const TorchJudgeRequest& request) {
    return {{"subject", toJson(request.subject)},
            {"library", request.library.string()},
            {"seeds", request.seeds},
            {"longestGate", request.longestGate.count()},
            {"times", request.wantsTimes},
            {"rounds", request.rounds},
            {"milliseconds", request.time.count()}};
}

TorchJudgeRequest judgeRequestFrom(const Json& json) {
    TorchJudgeRequest request;
    request.subject = subjectFrom(json.at("subject"));
    request.library = json.at("library").get<std::string>();
    json.at("seeds").get_to(request.seeds);
    request.longestGate = milliseconds(json.at("longestGate").get<std::int64_t>());
    json.at("times").get_to(request.wantsTimes);
    json.at("rounds").get_to(request.rounds);
    request.time = milliseconds(json.at("milliseconds").get<std::int64_t>());
    return request;
}

Json toJson(const Judgement& judgement) {
    Json trials = Json::array();
    for (const TrialResult& trial : judgement.trials)
        trials.push_back(toJson(trial));
    Json json{{"refusals", judgement.refusals},
              {"refused", judgement.isRefused()},
              {"within1e-2", judgement.isWithinLoose()},
              {"within1e-4", judgement.isWithinTight()},
              {"trials", std::move(trials)},
              {"plannedTrials", judgement.plannedTrials},
              {"libraryNodes", judgement.libraryNodes},
              {"constantOutput", judgement.isOutputConstant},
              {"device", judgement.device}};
    if (judgement.times)
        json["times"] = toJson(*judgement.times);
    return json;
}

Judgement judgementFrom(const Json& json) {
    Judgement judgement;
    json.at("refusals").get_to(judgement.refusals);
    for (const Json& trial : json.at("trials"))
        judgement.trials.push_back(trialFrom(trial));
    json.at("plannedTrials").get_to(judgement.plannedTrials);
    json.at("libraryNodes").get_to(judgement.libraryNodes);
    json.at("constantOutput").get_to(judgement.isOutputConstant);
    json.at("device").get_to(judgement.device);
    if (json.contains("times"))
        judgement.times = timesFrom(json.at("times"));
    return judgement;
}

} // namespace kernelskill::engine::graph
