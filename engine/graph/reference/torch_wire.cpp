#include "engine/graph/reference/torch_wire.h"

#include "engine/execution/launch_json.h"
#include "engine/graph/reference/contiguous_tensor.h"
#include "engine/process/error_json.h"
#include "engine/process/framing.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

using std::chrono::milliseconds;
using wire::Json;
using wire::number;
using wire::readEnum;

template <typename... Alternatives>
struct Overloaded : Alternatives... {
    using Alternatives::operator()...;
};

void readValues(const Json& json, std::vector<Extent>& extents) {
    for (const Json& value : json)
        extents.push_back({value.get<std::int64_t>(), {}});
}

Json toJson(const TensorData& tensor) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(tensor.bytes.data());
    return {{"element", number(tensor.type.element)},
            {"sizes", valuesOf(tensor.type.sizes)},
            {"strides", valuesOf(tensor.type.strides)},
            {"offset", tensor.type.offset.value},
            {"bytes", Json::binary(std::vector<std::uint8_t>(bytes, bytes + tensor.bytes.size()))}};
}

TensorData tensorFrom(const Json& json) {
    TensorType type;
    readEnum(json.at("element"), type.element);
    readValues(json.at("sizes"), type.sizes);
    readValues(json.at("strides"), type.strides);
    json.at("offset").get_to(type.offset.value);
    return owningTensor(std::move(type), wire::bytesOf(json.at("bytes")));
}

Json toJson(const TorchSubject& subject) {
    Json json{{"archive", subject.archive.string()},
              {"precision", number(subject.precision)},
              {"device", subject.device},
              {"seed", subject.seed},
              {"tf32", subject.allowsTf32}};
    if (subject.inputs) {
        Json& inputs = json["inputs"] = Json::array();
        for (const TensorData& tensor : *subject.inputs)
            inputs.push_back(toJson(tensor));
    }
    return json;
}

TorchSubject subjectFrom(const Json& json) {
    TorchSubject subject;
    subject.archive = json.at("archive").get<std::string>();
    readEnum(json.at("precision"), subject.precision);
    json.at("device").get_to(subject.device);
    json.at("seed").get_to(subject.seed);
    json.at("tf32").get_to(subject.allowsTf32);
    if (json.contains("inputs")) {
        subject.inputs.emplace();
        for (const Json& tensor : json.at("inputs"))
            subject.inputs->push_back(tensorFrom(tensor));
    }
    return subject;
}

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

/// The value at a share of the way through sorted values, between two of them if it has to be.
double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

constexpr milliseconds shortRequest{60'000};

} // namespace

milliseconds timeLimit(const TorchRequest& request) {
    if (const auto* run = std::get_if<TorchRunRequest>(&request))
        return run->time;
    if (const auto* timing = std::get_if<TorchTimingRequest>(&request))
        return timing->time;
    return shortRequest;
}

double TorchTiming::median() const {
    auto sorted = microseconds;
    std::ranges::sort(sorted);
    return sorted.empty() ? 0 : quantile(sorted, 0.5);
}

double TorchTiming::spread() const {
    auto sorted = microseconds;
    std::ranges::sort(sorted);
    const double middle = median();
    return middle > 0 ? (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / middle : 0;
}

std::vector<std::byte> encode(const TorchRequest& request) {
    return wire::frame(std::visit(Overloaded{[](const TorchVersionRequest& version) {
                                                 return Json{{"do", "version"},
                                                             {"operators", version.operators}};
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
        unknownMessage();
    });
}

std::vector<std::byte> encode(const TorchAnswer& answer) {
    return wire::frame(std::visit(
        Overloaded{[](const TorchVersion& version) { return Json{{"version", toJson(version)}}; },
                   [](const TorchRun& run) { return Json{{"run", toJson(run)}}; },
                   [](const TorchTiming& timing) {
                       return Json{{"microseconds", timing.microseconds},
                                   {"device", timing.areDeviceTimes}};
                   },
                   [](const TorchFailure& failure) {
                       return Json{{"error", wire::toJson(failure.error)},
                                   {"fatal", failure.isFatal}};
                   }},
        answer));
}

Result<TorchAnswer> decodeTorchAnswer(std::span<const std::byte> payload) {
    return wire::decodeFrame<TorchAnswer>(payload, [](const Json& json) -> TorchAnswer {
        if (json.contains("version"))
            return versionFrom(json.at("version"));
        if (json.contains("run"))
            return runFrom(json.at("run"));
        if (json.contains("microseconds"))
            return TorchTiming{json.at("microseconds").get<std::vector<double>>(),
                               json.at("device").get<bool>()};
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
