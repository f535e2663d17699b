#include "lsp-server/report/optimization_json.h"

#include "analysis/source/json.h"
#include "engine/memory/memory_entry.h"
#include "engine/optimization/remaining_loss.h"
#include "lsp-server/report/json_report.h"

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

json ruledOutJson(const std::vector<engine::RuledOut>& ruledOut) {
    json list = json::array();
    for (const engine::RuledOut& each : ruledOut)
        list.push_back({{"skill", each.skill}, {"why", each.why}});
    return list;
}

/// {memory: 0.39, latency: 0.61, ...}: what the model counts, as shares.
json weightsJson(std::span<const engine::CostPart> parts) {
    json weights = json::object();
    for (const auto& [name, weight] : engine::weightsOf(parts))
        weights[std::string(name)] = weight;
    return weights;
}

/// {least_seconds, weights, text}; null without a model. The model compares versions of a kernel:
/// it does not know how long one takes beyond the least that the roofline allows.
json costJson(const std::optional<engine::Standing>& standing) {
    if (!standing || !standing->cost)
        return nullptr;
    return {{"least_seconds", standing->cost->minSeconds},
            {"weights", weightsJson(standing->cost->parts)},
            {"text", describe(*standing->cost)}};
}

json measuredJson(const std::optional<engine::Standing>& standing) {
    if (!standing || !standing->measured)
        return nullptr;
    return {{"microseconds", standing->measured->microseconds},
            {"percent_of_roofline", standing->measured->percent()},
            {"text", describe(*standing->measured)}};
}

json remainingJson(const std::optional<engine::RemainingLoss>& remaining) {
    if (!remaining)
        return nullptr;
    json tried = json::array();
    for (const engine::TriedMethod& each : remaining->tried)
        tried.push_back({{"skill", each.skill}, {"outcome", each.outcome}});
    json remedies = json::array();
    for (const engine::Remedy& remedy : remaining->remedies)
        remedies.push_back(remedyJson(remedy));
    return {{"bottleneck", bottleneckJson(*remaining->bottleneck)},
            {"roofline",
             {{"at_most", remaining->distance ? json(remaining->distance->high) : json(nullptr)},
              {"measured", remaining->isMeasured},
              {"text", describeDistance(*remaining)}}},
            {"weights", weightsJson(remaining->parts)},
            {"tried", std::move(tried)},
            {"not_tried", remaining->notTried},
            {"remedies", std::move(remedies)}};
}

json attemptJson(const engine::Attempt& attempt) {
    const engine::RankedSkill& plan = attempt.plan;
    return {
        {"round", attempt.round},
        {"number", attempt.number},
        {"from", attempt.from},
        {"bottleneck", attempt.bottleneck ? bottleneckJson(*attempt.bottleneck) : json(nullptr)},
        {"plan",
         {{"skill", plan.offer.skillId},
          {"option", plan.offer.option},
          {"title", plan.offer.title},
          {"why", plan.why},
          {"score", plan.score},
          {"expected", plan.expected},
          {"ruled_out", ruledOutJson(attempt.ruledOut)}}},
        {"verdict", attempt.verdict ? verdictJson(*attempt.verdict) : json(nullptr)},
        {"sum", attempt.sum ? verdictJson(*attempt.sum) : json(nullptr)},
        {"remembered", attempt.isRemembered},
        {"kept", attempt.isKept},
        {"version", attempt.version > 0 ? json(attempt.version) : json(nullptr)},
        {"decision", attempt.decision},
        {"diagnosis",
         attempt.diagnosis ? json(engine::diagnosisJson(*attempt.diagnosis)) : json(nullptr)},
        {"model", {{"before", costJson(attempt.before)}, {"after", costJson(attempt.after)}}},
        {"measured",
         {{"before", measuredJson(attempt.before)}, {"after", measuredJson(attempt.after)}}},
        {"diff", attempt.diff}};
}

} // namespace

json optimizationJson(const engine::Optimization& found, const std::string& mainFile,
                      TextLookup& texts, PositionEncoding encoding) {
    json rounds = json::array();
    for (const engine::Attempt& attempt : found.attempts)
        rounds.push_back(attemptJson(attempt));
    const bool isMeasured = found.verdict && found.verdict->speedup;
    return {
        {"kernel", found.kernel},
        {"executor", found.executor},
        {"seed", found.seed},
        {"rounds", std::move(rounds)},
        {"base",
         {{"bottleneck",
           found.base.bottleneck ? bottleneckJson(*found.base.bottleneck) : json(nullptr)},
          {"model", costJson(found.base)},
          {"measured", measuredJson(found.base)}}},
        {"best",
         {{"improved", found.isImproved()},
          {"speedup", isMeasured ? json(*found.verdict->speedup) : json(nullptr)},
          {"modelled_gain", found.modelledGain ? json(*found.modelledGain) : json(nullptr)},
          {"skills", found.skills},
          {"verdict", found.verdict ? verdictJson(*found.verdict) : json(nullptr)},
          {"model", costJson(found.best)},
          {"measured", measuredJson(found.best)},
          {"edits", editsJson(found.edits, mainFile, texts, encoding)}}},
        {"diff", found.diff},
        {"remaining", remainingJson(found.remaining)},
        {"stop",
         {{"reason", spelling(found.stop)}, {"text", found.stopText}, {"rounds", found.rounds}}},
        {"ruled_out", ruledOutJson(found.ruledOut)}};
}

} // namespace kernelskill::lsp
