#include "engine/execution/launch_json.h"

#include "analysis/source/json.h"

#include <cstring>

namespace kernelskill::engine::wire {

std::uint64_t wholeNumber(const Json& json) {
    return json.get<std::uint64_t>();
}

Json toJson(const Dim3& dim) {
    return Json::array({dim.x, dim.y, dim.z});
}

void fromJson(const Json& json, Dim3& dim) {
    dim = {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(),
           json.at(2).get<std::uint32_t>()};
}

Json binary(const std::vector<std::byte>& bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return Json::binary(std::vector<std::uint8_t>(data, data + bytes.size()));
}

std::vector<std::byte> bytesOf(const Json& json) {
    const Json::binary_t& binary = json.get_binary();
    const auto* data = reinterpret_cast<const std::byte*>(binary.data());
    return {data, data + binary.size()};
}

namespace {

/// As bytes, because JSON has neither NaN nor infinity.
Json doublesAsBytes(const std::vector<double>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(double));
    if (!values.empty())
        std::memcpy(bytes.data(), values.data(), bytes.size());
    return binary(bytes);
}

std::vector<double> doublesFrom(const Json& json) {
    const std::vector<std::byte> bytes = bytesOf(json);
    std::vector<double> values(bytes.size() / sizeof(double));
    if (!values.empty())
        std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
    return values;
}

Json toJson(const ValueChoice& choice) {
    return Json{{"values", doublesAsBytes(choice.values)},
                {"share", choice.share},
                {"minExponent", choice.minExponent},
                {"maxExponent", choice.maxExponent},
                {"isFloat", choice.isFloat}};
}

ValueChoice choiceFrom(const Json& json) {
    return {doublesFrom(json.at("values")), json.at("share").get<double>(),
            json.at("minExponent").get<int>(), json.at("maxExponent").get<int>(),
            json.at("isFloat").get<bool>()};
}

Json toJson(const BufferSpec& buffer) {
    Json json{{"name", buffer.name},
              {"element", number(buffer.element)},
              {"elementBytes", buffer.elementBytes},
              {"fill", number(buffer.fill)},
              {"value", buffer.value},
              {"range", buffer.integerRange},
              {"output", buffer.isOutput},
              {"input", buffer.isInput}};
    if (buffer.elements)
        json["elements"] = *buffer.elements;
    if (!buffer.sameAs.empty())
        json["sameAs"] = buffer.sameAs;
    if (buffer.shift != 0)
        json["shift"] = buffer.shift;
    if (buffer.captured)
        json["captured"] = {{"file", buffer.captured->before},
                            {"element", number(buffer.captured->element)}};
    if (buffer.choice)
        json["choice"] = toJson(*buffer.choice);
    if (buffer.valuesOf)
        json["valuesOf"] = number(*buffer.valuesOf);
    return json;
}

BufferSpec bufferFrom(const Json& json) {
    BufferSpec buffer;
    buffer.name = json.at("name").get<std::string>();
    readEnum(json.at("element"), buffer.element);
    buffer.elementBytes = json.at("elementBytes").get<std::uint32_t>();
    readEnum(json.at("fill"), buffer.fill);
    buffer.value = json.at("value").get<double>();
    buffer.integerRange = json.at("range").get<std::int64_t>();
    buffer.isOutput = json.at("output").get<bool>();
    buffer.isInput = json.at("input").get<bool>();
    if (json.contains("elements"))
        buffer.elements = json.at("elements").get<std::uint64_t>();
    if (json.contains("shift"))
        buffer.shift = json.at("shift").get<std::uint32_t>();
    if (json.contains("sameAs"))
        buffer.sameAs = json.at("sameAs").get<std::string>();
    if (json.contains("captured")) {
        const Json& captured = json.at("captured");
        buffer.captured.emplace();
        buffer.captured->before = captured.at("file").get<std::string>();
        readEnum(captured.at("element"), buffer.captured->element);
    }
    if (json.contains("valuesOf"))
        readEnum(json.at("valuesOf"), buffer.valuesOf.emplace());
    if (buffer.fill == Fill::Chosen)
        buffer.choice = choiceFrom(json.at("choice"));
    return buffer;
}

Json toJson(const ArgumentSpec& argument) {
    if (const auto* buffer = std::get_if<BufferSpec>(&argument))
        return Json{{"buffer", toJson(*buffer)}};
    const auto& scalar = std::get<ScalarSpec>(argument);
    return Json{{"scalar", scalar.name}, {"bytes", binary(scalar.bytes)}};
}

ArgumentSpec argumentFrom(const Json& json) {
    if (json.contains("buffer"))
        return bufferFrom(json.at("buffer"));
    ScalarSpec scalar;
    scalar.name = json.at("scalar").get<std::string>();
    scalar.bytes = bytesOf(json.at("bytes"));
    return scalar;
}

Json toJson(const SymbolSpec& symbol) {
    Json json{{"name", symbol.name},       {"fill", number(symbol.fill)},
              {"value", symbol.value},     {"range", symbol.integerRange},
              {"filled", symbol.isFilled}, {"output", symbol.isOutput}};
    if (symbol.choice)
        json["choice"] = toJson(*symbol.choice);
    return json;
}

SymbolSpec symbolFrom(const Json& json) {
    SymbolSpec symbol;
    symbol.name = json.at("name").get<std::string>();
    readEnum(json.at("fill"), symbol.fill);
    symbol.value = json.at("value").get<double>();
    symbol.integerRange = json.at("range").get<std::int64_t>();
    symbol.isFilled = json.at("filled").get<bool>();
    symbol.isOutput = json.at("output").get<bool>();
    if (symbol.fill == Fill::Chosen)
        symbol.choice = choiceFrom(json.at("choice"));
    return symbol;
}

} // namespace

Json toJson(const LaunchSpec& launch) {
    Json arguments = Json::array();
    for (const ArgumentSpec& argument : launch.arguments)
        arguments.push_back(toJson(argument));
    Json symbols = Json::array();
    for (const SymbolSpec& symbol : launch.symbols)
        symbols.push_back(toJson(symbol));
    return Json{{"origin", number(launch.origin)},   {"grid", toJson(launch.grid)},
                {"block", toJson(launch.block)},     {"shared", launch.dynamicSharedBytes},
                {"arguments", std::move(arguments)}, {"symbols", std::move(symbols)}};
}

void fromJson(const Json& json, LaunchSpec& launch) {
    readEnum(json.at("origin"), launch.origin);
    fromJson(json.at("grid"), launch.grid);
    fromJson(json.at("block"), launch.block);
    launch.dynamicSharedBytes = json.at("shared").get<std::uint64_t>();
    for (const Json& argument : json.at("arguments"))
        launch.arguments.push_back(argumentFrom(argument));
    for (const Json& symbol : json.at("symbols"))
        launch.symbols.push_back(symbolFrom(symbol));
}

Json toJson(const BufferContents& contents) {
    return Json{{"name", contents.name},
                {"element", number(contents.element)},
                {"elementBytes", contents.elementBytes},
                {"bytes", binary(contents.bytes)}};
}

void fromJson(const Json& json, BufferContents& contents) {
    contents.name = json.at("name").get<std::string>();
    readEnum(json.at("element"), contents.element);
    contents.elementBytes = json.at("elementBytes").get<std::uint32_t>();
    contents.bytes = bytesOf(json.at("bytes"));
}

} // namespace kernelskill::engine::wire
