#include "engine/replay/replay_wire.h"

#include "analysis/source/json.h"
#include "engine/process/error_json.h"
#include "engine/process/framing.h"

#include <cmath>
#include <limits>

namespace kernelskill::engine {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 5> elementNames{"bytes", "float16", "bfloat16", "float32",
                                                       "float64"};

template <typename... Alternatives>
struct Overloaded : Alternatives... {
    using Alternatives::operator()...;
};

MemoryElement elementFrom(const Json& json) {
    const auto number = json.get<std::uint8_t>();
    // A number that is none of them is read as the one that claims nothing.
    return number < elementNames.size() ? static_cast<MemoryElement>(number) : MemoryElement::Bytes;
}

Json candidateJson(const ReplayCandidate& candidate) {
    const auto* cubin = reinterpret_cast<const std::uint8_t*>(candidate.cubin.data());
    return {{"cubin", Json::binary({cubin, cubin + candidate.cubin.size()})},
            {"symbol", candidate.symbol},
            {"grid", candidate.grid},
            {"block", candidate.block},
            {"shared", candidate.sharedBytes},
            {"added", candidate.added}};
}

ReplayCandidate candidateFrom(const Json& json) {
    ReplayCandidate candidate;
    const auto& cubin = json.at("cubin").get_binary();
    candidate.cubin.assign(cubin.begin(), cubin.end());
    json.at("symbol").get_to(candidate.symbol);
    json.at("grid").get_to(candidate.grid);
    json.at("block").get_to(candidate.block);
    json.at("shared").get_to(candidate.sharedBytes);
    json.at("added").get_to(candidate.added);
    return candidate;
}

Json tryJson(const TryRequest& request) {
    Json candidates = Json::array();
    for (const ReplayCandidate& candidate : request.candidates)
        candidates.push_back(candidateJson(candidate));
    Json elements = Json::array();
    for (const TypedRange& range : request.elements)
        elements.push_back(Json::array({range.address, range.bytes, range.element}));
    return {{"request", "try"},
            {"candidates", std::move(candidates)},
            {"elements", std::move(elements)},
            {"onlyWritten", request.onlyWritten},
            {"checks", request.checks},
            {"rounds", request.rounds},
            {"limit", request.limit.count()}};
}

TryRequest tryFrom(const Json& json) {
    TryRequest request;
    for (const Json& candidate : json.at("candidates"))
        request.candidates.push_back(candidateFrom(candidate));
    for (const Json& range : json.at("elements"))
        request.elements.push_back({range.at(0).get<std::uint64_t>(),
                                    range.at(1).get<std::uint64_t>(), elementFrom(range.at(2))});
    json.at("onlyWritten").get_to(request.onlyWritten);
    json.at("checks").get_to(request.checks);
    json.at("rounds").get_to(request.rounds);
    request.limit = std::chrono::milliseconds(json.at("limit").get<std::int64_t>());
    return request;
}

Json differencesJson(const std::vector<MemoryDifference>& differences) {
    Json list = Json::array();
    for (const MemoryDifference& each : differences) {
        Json json{{"where", each.where},
                  {"address", each.address},
                  {"bytes", each.bytes},
                  {"first", each.firstOffset},
                  {"differing", each.differingBytes},
                  {"stray", each.strayBytes},
                  {"element", each.element},
                  {"host", each.isOfHost}};
        if (std::isfinite(each.maxRelative))
            json["relative"] = each.maxRelative;
        list.push_back(std::move(json));
    }
    return list;
}

std::vector<MemoryDifference> differencesFrom(const Json& list) {
    std::vector<MemoryDifference> differences;
    for (const Json& json : list) {
        MemoryDifference difference;
        json.at("where").get_to(difference.where);
        json.at("address").get_to(difference.address);
        json.at("bytes").get_to(difference.bytes);
        json.at("first").get_to(difference.firstOffset);
        json.at("differing").get_to(difference.differingBytes);
        json.at("stray").get_to(difference.strayBytes);
        difference.element = elementFrom(json.at("element"));
        json.at("host").get_to(difference.isOfHost);
        difference.maxRelative = json.value("relative", std::numeric_limits<double>::infinity());
        differences.push_back(std::move(difference));
    }
    return differences;
}

Json resultJson(const CandidateResult& result) {
    Json json{{"differences", differencesJson(result.differences)},
              {"stale", result.isByStaleMemory},
              {"microseconds", result.microseconds},
              {"notes", result.notes}};
    if (result.refusal)
        json["refusal"] = wire::toJson(*result.refusal);
    return json;
}

CandidateResult resultFrom(const Json& json) {
    CandidateResult result;
    if (const auto refusal = json.find("refusal"); refusal != json.end())
        wire::fromJson(*refusal, result.refusal.emplace());
    result.differences = differencesFrom(json.at("differences"));
    json.at("stale").get_to(result.isByStaleMemory);
    json.at("microseconds").get_to(result.microseconds);
    json.at("notes").get_to(result.notes);
    return result;
}

Json descriptionJson(const HeldDescription& held) {
    return {{"answer", "held"},
            {"launch", formatCapture(held.launch)},
            {"capability", {held.capabilityMajor, held.capabilityMinor}},
            {"allocations", held.allocations},
            {"allocatedBytes", held.allocatedBytes},
            {"variables", held.variables},
            {"savedBytes", held.savedBytes},
            {"writtenBytes", held.writtenBytes},
            {"originalTime", held.originalTime.count()},
            {"variation", differencesJson(held.variation)}};
}

HeldDescription descriptionFrom(const Json& json) {
    HeldDescription held;
    auto launch = parseCapture(json.at("launch").get_ref<const std::string&>());
    if (launch)
        held.launch = std::move(*launch);
    else
        held.launch.missing = launch.error().what;
    json.at("capability").at(0).get_to(held.capabilityMajor);
    json.at("capability").at(1).get_to(held.capabilityMinor);
    json.at("allocations").get_to(held.allocations);
    json.at("allocatedBytes").get_to(held.allocatedBytes);
    json.at("variables").get_to(held.variables);
    json.at("savedBytes").get_to(held.savedBytes);
    json.at("writtenBytes").get_to(held.writtenBytes);
    held.originalTime = std::chrono::milliseconds(json.at("originalTime").get<std::int64_t>());
    held.variation = differencesFrom(json.at("variation"));
    return held;
}

Json answerJson(const TryAnswer& answer) {
    Json candidates = Json::array();
    for (const CandidateResult& result : answer.candidates)
        candidates.push_back(resultJson(result));
    return {{"answer", "tried"},
            {"original", answer.original},
            {"variation", differencesJson(answer.variation)},
            {"candidates", std::move(candidates)},
            {"notes", answer.notes}};
}

TryAnswer answerFrom(const Json& json) {
    TryAnswer answer;
    json.at("original").get_to(answer.original);
    answer.variation = differencesFrom(json.at("variation"));
    for (const Json& result : json.at("candidates"))
        answer.candidates.push_back(resultFrom(result));
    json.at("notes").get_to(answer.notes);
    return answer;
}

Json failureJson(const ReplayFailure& failure) {
    Json json{{"answer", "failed"},
              {"error", wire::toJson(failure.error)},
              {"fatal", failure.isFatal},
              {"soFar", answerJson(failure.soFar)}};
    if (failure.candidate)
        json["candidate"] = *failure.candidate;
    return json;
}

ReplayFailure failureFrom(const Json& json) {
    ReplayFailure failure;
    wire::fromJson(json.at("error"), failure.error);
    json.at("fatal").get_to(failure.isFatal);
    failure.soFar = answerFrom(json.at("soFar"));
    if (const auto candidate = json.find("candidate"); candidate != json.end())
        failure.candidate = candidate->get<std::uint32_t>();
    return failure;
}

} // namespace

std::string_view spelling(MemoryElement element) {
    return elementNames[static_cast<std::size_t>(element)];
}

std::vector<std::byte> encode(const ReplayRequest& request) {
    return wire::frame(std::visit(
        Overloaded{[](const DescribeHeldRequest&) { return Json{{"request", "describe"}}; },
                   [](const TryRequest& given) { return tryJson(given); },
                   [](const ResumeRequest&) { return Json{{"request", "resume"}}; }},
        request));
}

std::vector<std::byte> encode(const ReplayAnswer& answer) {
    return wire::frame(
        std::visit(Overloaded{[](const HeldDescription& given) { return descriptionJson(given); },
                              [](const TryAnswer& given) { return answerJson(given); },
                              [](const ReplayFailure& given) { return failureJson(given); }},
                   answer));
}

Result<ReplayRequest> decodeReplayRequest(std::span<const std::byte> payload) {
    return wire::decodeFrame<ReplayRequest>(payload, [](const Json& json) -> ReplayRequest {
        const auto& kind = json.at("request").get_ref<const std::string&>();
        if (kind == "try")
            return tryFrom(json);
        if (kind == "resume")
            return ResumeRequest{};
        return DescribeHeldRequest{};
    });
}

Result<ReplayAnswer> decodeReplayAnswer(std::span<const std::byte> payload) {
    return wire::decodeFrame<ReplayAnswer>(payload, [](const Json& json) -> ReplayAnswer {
        const auto& kind = json.at("answer").get_ref<const std::string&>();
        if (kind == "held")
            return descriptionFrom(json);
        if (kind == "tried")
            return answerFrom(json);
        return failureFrom(json);
    });
}

} // namespace kernelskill::engine
