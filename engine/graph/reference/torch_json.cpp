#include "engine/graph/reference/torch_json.h"

#include "analysis/source/json.h"
#include "engine/execution/launch_json.h"
#include "engine/graph/reference/contiguous_tensor.h"

#include <utility>

namespace kernelskill::engine::graph {

using wire::Json;
using wire::number;
using wire::readEnum;

namespace {

void readValues(const Json& json, std::vector<Extent>& extents) {
    for (const Json& value : json)
        extents.push_back({value.get<std::int64_t>(), {}});
}

} // namespace

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

Json toJson(const ProgramPart& part) {
    return {{"nodes", part.nodes}, {"outputs", part.outputs}};
}

ProgramPart partFrom(const Json& json) {
    ProgramPart part;
    json.at("nodes").get_to(part.nodes);
    json.at("outputs").get_to(part.outputs);
    return part;
}

Json toJson(const TorchSubject& subject) {
    Json json{{"archive", subject.archive.string()},
              {"precision", number(subject.precision)},
              {"device", subject.device},
              {"seed", subject.seed},
              {"tf32", subject.allowsTf32}};
    if (subject.extents.largest)
        json["largest_extent"] = *subject.extents.largest;
    if (!subject.extents.symbols.empty())
        json["symbols"] = subject.extents.symbols;
    if (subject.part)
        json["part"] = toJson(*subject.part);
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
    if (json.contains("largest_extent"))
        subject.extents.largest = json.at("largest_extent").get<std::int64_t>();
    if (json.contains("symbols"))
        json.at("symbols").get_to(subject.extents.symbols);
    if (json.contains("part"))
        subject.part = partFrom(json.at("part"));
    if (json.contains("inputs")) {
        subject.inputs.emplace();
        for (const Json& tensor : json.at("inputs"))
            subject.inputs->push_back(tensorFrom(tensor));
    }
    return subject;
}

Json toJson(const TorchTiming& timing) {
    return {{"microseconds", timing.microseconds}, {"device", timing.areDeviceTimes}};
}

TorchTiming timingFrom(const Json& json) {
    return {json.at("microseconds").get<std::vector<double>>(), json.at("device").get<bool>()};
}

} // namespace kernelskill::engine::graph
