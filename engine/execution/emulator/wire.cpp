#include "engine/execution/emulator/wire.h"

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include <cstring>

namespace kernelskill::engine::emulator {

using Json = nlohmann::json;

namespace {

constexpr std::uint64_t largestPayload = std::uint64_t{1} << 34;

template <typename Enum>
Json number(Enum value) {
    return static_cast<std::uint64_t>(value);
}

template <typename Enum>
void readEnum(const Json& json, Enum& value) {
    value = static_cast<Enum>(json.get<std::uint64_t>());
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
    return Json{{"name", symbol.name},
                {"fill", number(symbol.fill)},
                {"value", symbol.value},
                {"range", symbol.integerRange}};
}

SymbolSpec symbolFrom(const Json& json) {
    SymbolSpec symbol;
    symbol.name = json.at("name").get<std::string>();
    readEnum(json.at("fill"), symbol.fill);
    symbol.value = json.at("value").get<double>();
    symbol.integerRange = json.at("range").get<std::int64_t>();
    return symbol;
}

Json toJson(const HazardReport& hazard) {
    return Json{{"kind", number(hazard.kind)},
                {"certain", hazard.certain},
                {"site", hazard.site},
                {"other", hazard.otherSite},
                {"message", hazard.message},
                {"block", toJson(hazard.block)},
                {"thread", toJson(hazard.thread)}};
}

HazardReport hazardFrom(const Json& json) {
    HazardReport hazard;
    readEnum(json.at("kind"), hazard.kind);
    hazard.certain = json.at("certain").get<bool>();
    hazard.site = json.at("site").get<Site>();
    hazard.otherSite = json.at("other").get<Site>();
    hazard.message = json.at("message").get<std::string>();
    fromJson(json.at("block"), hazard.block);
    fromJson(json.at("thread"), hazard.thread);
    return hazard;
}

Json toJson(const BufferContents& contents) {
    return Json{{"name", contents.name},
                {"element", number(contents.element)},
                {"elementBytes", contents.elementBytes},
                {"bytes", binary(contents.bytes)}};
}

BufferContents contentsFrom(const Json& json) {
    BufferContents contents;
    contents.name = json.at("name").get<std::string>();
    readEnum(json.at("element"), contents.element);
    contents.elementBytes = json.at("elementBytes").get<std::uint32_t>();
    contents.bytes = bytesOf(json.at("bytes"));
    return contents;
}

/// Names from untrusted images may hold anything; CBOR text must be UTF-8 for other readers of the
/// frame.
std::string printable(std::string text) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) >= 0x80)
            c = '?';
    }
    return text;
}

std::vector<std::byte> frame(const Json& json) {
    const std::vector<std::uint8_t> payload = Json::to_cbor(json);
    std::vector<std::byte> bytes(frameHeaderBytes + payload.size());
    for (std::size_t i = 0; i < frameHeaderBytes; ++i)
        bytes[i] = static_cast<std::byte>(payload.size() >> (8 * i));
    std::memcpy(bytes.data() + frameHeaderBytes, payload.data(), payload.size());
    return bytes;
}

/// nlohmann reports malformed input by exceptions; here they become values.
template <typename T, typename Read>
Result<T> decode(std::span<const std::byte> payload, Read read) {
    try {
        const auto* data = reinterpret_cast<const std::uint8_t*>(payload.data());
        return read(Json::from_cbor(data, data + payload.size()));
    } catch (const Json::exception& error) {
        return std::unexpected(Error{ErrorKind::Internal,
                                     fmt::format("malformed emulator message: {}", error.what()),
                                     "", ""});
    }
}

} // namespace

std::string siteReference(Site site) {
    return fmt::format("\x01{:x}\x02", site);
}

std::optional<std::uint64_t> payloadLength(std::span<const std::byte, frameHeaderBytes> header) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < frameHeaderBytes; ++i)
        length |= static_cast<std::uint64_t>(header[i]) << (8 * i);
    if (length > largestPayload)
        return std::nullopt;
    return length;
}

std::vector<std::byte> encode(const WorkerJob& message) {
    const Job& job = message.job;
    Json arguments = Json::array();
    for (const ArgumentSpec& argument : job.launch.arguments)
        arguments.push_back(toJson(argument));
    Json symbols = Json::array();
    for (const SymbolSpec& symbol : job.launch.symbols)
        symbols.push_back(toJson(symbol));
    Json json{{"image", message.image},
              {"origin", number(job.launch.origin)},
              {"grid", toJson(job.launch.grid)},
              {"block", toJson(job.launch.block)},
              {"shared", job.launch.dynamicSharedBytes},
              {"arguments", std::move(arguments)},
              {"symbols", std::move(symbols)},
              {"seed", job.seed},
              {"profile", job.wantProfile},
              {"hazards", job.wantHazards},
              {"outputs", job.wantOutputs},
              {"milliseconds", job.limits.time.count()},
              {"memory", job.limits.memoryBytes},
              {"printed", job.limits.outputBytes},
              {"accesses", job.limits.accesses}};
    if (job.maxBlocks)
        json["maxBlocks"] = *job.maxBlocks;
    return frame(json);
}

Result<WorkerJob> decodeJob(std::span<const std::byte> payload) {
    return decode<WorkerJob>(payload, [](const Json& json) {
        WorkerJob message;
        message.image = json.at("image").get<std::string>();
        Job& job = message.job;
        readEnum(json.at("origin"), job.launch.origin);
        fromJson(json.at("grid"), job.launch.grid);
        fromJson(json.at("block"), job.launch.block);
        job.launch.dynamicSharedBytes = json.at("shared").get<std::uint64_t>();
        for (const Json& argument : json.at("arguments"))
            job.launch.arguments.push_back(argumentFrom(argument));
        for (const Json& symbol : json.at("symbols"))
            job.launch.symbols.push_back(symbolFrom(symbol));
        job.seed = json.at("seed").get<std::uint64_t>();
        job.wantProfile = json.at("profile").get<bool>();
        job.wantHazards = json.at("hazards").get<bool>();
        job.wantOutputs = json.at("outputs").get<bool>();
        job.limits.time = std::chrono::milliseconds{json.at("milliseconds").get<std::int64_t>()};
        job.limits.memoryBytes = json.at("memory").get<std::uint64_t>();
        job.limits.outputBytes = json.at("printed").get<std::uint64_t>();
        job.limits.accesses = json.at("accesses").get<std::uint64_t>();
        if (json.contains("maxBlocks"))
            job.maxBlocks = json.at("maxBlocks").get<std::uint64_t>();
        return message;
    });
}

std::vector<std::byte> encode(const WorkerReport& report) {
    Json sites = Json::array();
    for (const auto& [site, counters] : report.sites)
        sites.push_back(Json::array({site, counters.values}));
    Json hazards = Json::array();
    for (const HazardReport& hazard : report.hazards)
        hazards.push_back(toJson(hazard));
    Json extents = Json::array();
    for (const BufferExtent& extent : report.extents)
        extents.push_back(Json::array({extent.name, extent.elements, extent.read, extent.written}));
    Json outputs = Json::array();
    for (const BufferContents& contents : report.outputs)
        outputs.push_back(toJson(contents));
    Json json{{"sites", std::move(sites)},     {"totals", report.totals.values},
              {"hazards", std::move(hazards)}, {"extents", std::move(extents)},
              {"blocksRun", report.blocksRun}, {"notes", report.notes},
              {"outputs", std::move(outputs)}, {"printed", printable(report.printed)}};
    if (report.failure) {
        json["failure"] =
            Json{{"kind", number(report.failure->kind)}, {"what", printable(report.failure->what)},
                 {"where", report.failure->where},       {"remedy", report.failure->remedy},
                 {"site", report.failure->site},         {"cutOff", report.failure->isCutOff}};
    }
    return frame(json);
}

Result<WorkerReport> decodeReport(std::span<const std::byte> payload) {
    return decode<WorkerReport>(payload, [](const Json& json) {
        WorkerReport report;
        for (const Json& entry : json.at("sites"))
            entry.at(1).get_to(report.sites[entry.at(0).get<Site>()].values);
        json.at("totals").get_to(report.totals.values);
        for (const Json& hazard : json.at("hazards"))
            report.hazards.push_back(hazardFrom(hazard));
        for (const Json& extent : json.at("extents"))
            report.extents.push_back({extent.at(0).get<std::string>(),
                                      extent.at(1).get<std::uint64_t>(), extent.at(2).get<bool>(),
                                      extent.at(3).get<bool>()});
        report.blocksRun = json.at("blocksRun").get<std::uint64_t>();
        report.notes = json.at("notes").get<std::vector<std::string>>();
        for (const Json& contents : json.at("outputs"))
            report.outputs.push_back(contentsFrom(contents));
        report.printed = json.at("printed").get<std::string>();
        if (json.contains("failure")) {
            const Json& failure = json.at("failure");
            WorkerFailure& value = report.failure.emplace();
            readEnum(failure.at("kind"), value.kind);
            value.what = failure.at("what").get<std::string>();
            value.where = failure.at("where").get<std::string>();
            value.remedy = failure.at("remedy").get<std::string>();
            value.site = failure.at("site").get<Site>();
            value.isCutOff = failure.at("cutOff").get<bool>();
        }
        return report;
    });
}

} // namespace kernelskill::engine::emulator
