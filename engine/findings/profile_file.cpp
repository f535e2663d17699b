#include "engine/findings/profile_file.h"

#include "analysis/source/json.h"
#include "engine/execution/launch_json.h"
#include "engine/process/framing.h"

#include <span>

namespace kernelskill::engine {
namespace {

using nlohmann::json;

/// The version of this format. Other versions are not read.
constexpr int version = 1;

json toJson(const Dim3& dim) {
    return wire::toJson(dim);
}

Dim3 dimFrom(const json& value) {
    Dim3 dim;
    wire::fromJson(value, dim);
    return dim;
}

/// The wire format, and the fields that only people read.
json toJson(const LaunchSpec& launch) {
    json shown = json::array();
    for (const ArgumentSpec& argument : launch.arguments) {
        json& entry = shown.emplace_back(json::object());
        if (const auto* scalar = std::get_if<ScalarSpec>(&argument)) {
            if (scalar->integer)
                entry["integer"] = *scalar->integer;
            if (scalar->floating)
                entry["floating"] = *scalar->floating;
        }
    }
    return {{"wire", wire::toJson(launch)},
            {"kernel", launch.kernel},
            {"templates", launch.templateArguments},
            {"shown", std::move(shown)},
            {"notes", launch.notes}};
}

LaunchSpec launchFrom(const json& value) {
    LaunchSpec launch;
    wire::fromJson(value.at("wire"), launch);
    launch.kernel = value.at("kernel");
    launch.templateArguments = value.at("templates");
    launch.notes = value.at("notes");
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        const json& shown = value.at("shown").at(i);
        if (auto* scalar = std::get_if<ScalarSpec>(&launch.arguments[i])) {
            if (shown.contains("integer"))
                scalar->integer = shown.at("integer").get<std::int64_t>();
            if (shown.contains("floating"))
                scalar->floating = shown.at("floating").get<double>();
        }
    }
    return launch;
}

json toJson(const Hazard& hazard) {
    json value{{"kind", wire::number(hazard.kind)},
               {"certain", hazard.certain},
               {"file", hazard.file},
               {"line", hazard.line},
               {"otherFile", hazard.otherFile},
               {"otherLine", hazard.otherLine},
               {"message", hazard.message},
               {"block", toJson(hazard.block)},
               {"thread", toJson(hazard.thread)},
               {"object", hazard.details.object},
               {"scope", wire::number(hazard.details.scope)},
               {"pair", wire::number(hazard.details.pair)},
               {"doubt", wire::number(hazard.details.doubt)}};
    if (hazard.details.other)
        value["other"] = {toJson(hazard.details.other->block),
                          toJson(hazard.details.other->thread)};
    if (hazard.details.element)
        value["element"] = *hazard.details.element;
    return value;
}

Hazard hazardFrom(const json& value) {
    Hazard hazard;
    wire::readEnum(value.at("kind"), hazard.kind);
    hazard.certain = value.at("certain");
    hazard.file = value.at("file");
    hazard.line = value.at("line");
    hazard.otherFile = value.at("otherFile");
    hazard.otherLine = value.at("otherLine");
    hazard.message = value.at("message");
    hazard.block = dimFrom(value.at("block"));
    hazard.thread = dimFrom(value.at("thread"));
    hazard.details.object = value.at("object");
    wire::readEnum(value.at("scope"), hazard.details.scope);
    wire::readEnum(value.at("pair"), hazard.details.pair);
    wire::readEnum(value.at("doubt"), hazard.details.doubt);
    if (value.contains("other"))
        hazard.details.other =
            ThreadPlace{dimFrom(value.at("other").at(0)), dimFrom(value.at("other").at(1))};
    if (value.contains("element"))
        hazard.details.element = value.at("element").get<std::int64_t>();
    return hazard;
}

json toJson(const Profile& profile) {
    json lines = json::array();
    for (const LineMetrics& line : profile.lines)
        lines.push_back({line.file, line.line, line.metrics});
    json hazards = json::array();
    for (const Hazard& hazard : profile.hazards)
        hazards.push_back(toJson(hazard));
    json extents = json::array();
    for (const BufferExtent& extent : profile.extents)
        extents.push_back({extent.name, extent.elements, extent.read, extent.written});
    return {{"kernel", profile.kernel},
            {"executor", profile.executor},
            {"launch", toJson(profile.launch)},
            {"metrics", profile.metrics},
            {"lines", std::move(lines)},
            {"hazards", std::move(hazards)},
            {"extents", std::move(extents)},
            {"blocks", profile.blocksRun},
            {"notes", profile.notes}};
}

Profile profileFrom(const json& value) {
    Profile profile;
    profile.kernel = value.at("kernel");
    profile.executor = value.at("executor");
    profile.launch = launchFrom(value.at("launch"));
    profile.metrics = value.at("metrics").get<Metrics>();
    for (const json& line : value.at("lines"))
        profile.lines.push_back({line.at(0), line.at(1), line.at(2).get<Metrics>()});
    for (const json& hazard : value.at("hazards"))
        profile.hazards.push_back(hazardFrom(hazard));
    for (const json& extent : value.at("extents"))
        profile.extents.push_back({extent.at(0), extent.at(1), extent.at(2), extent.at(3)});
    profile.blocksRun = value.at("blocks");
    profile.notes = value.at("notes");
    return profile;
}

json toJson(const StaticFacts& facts) {
    return {{"symbol", facts.symbol},
            {"architecture", facts.architecture},
            {"compiler", facts.compiler},
            {"registers", facts.registers},
            {"spillStores", facts.spillStoreBytes},
            {"spillLoads", facts.spillLoadBytes},
            {"stack", facts.stackBytes},
            {"shared", facts.staticSharedBytes},
            {"barriers", facts.barriers},
            {"notes", facts.notes}};
}

StaticFacts factsFrom(const json& value) {
    StaticFacts facts;
    facts.symbol = value.at("symbol");
    facts.architecture = value.at("architecture");
    facts.compiler = value.at("compiler");
    facts.registers = value.at("registers");
    facts.spillStoreBytes = value.at("spillStores");
    facts.spillLoadBytes = value.at("spillLoads");
    facts.stackBytes = value.at("stack");
    facts.staticSharedBytes = value.at("shared");
    facts.barriers = value.at("barriers");
    facts.notes = value.at("notes");
    return facts;
}

json toJson(const Measurement& measurement) {
    json value{
        {"device", measurement.device}, {"gpu", measurement.gpu}, {"time", measurement.time}};
    if (const auto& ceilings = measurement.ceilings)
        value["ceilings"] = {ceilings->gpu, ceilings->bytesPerSecond, ceilings->singlePerSecond,
                             ceilings->doublePerSecond, ceilings->cacheBytesPerSecond};
    return value;
}

Measurement measurementFrom(const json& value) {
    Measurement measurement{value.at("device"), value.at("gpu"), value.at("time"), {}};
    if (value.contains("ceilings")) {
        const json& ceilings = value.at("ceilings");
        measurement.ceilings = DeviceCeilings{ceilings.at(0), ceilings.at(1), ceilings.at(2),
                                              ceilings.at(3), ceilings.at(4)};
    }
    return measurement;
}

} // namespace

std::string encodeFindings(const KeptFindings& kept) {
    json places = json::array();
    for (const FunctionPlace& place : kept.places)
        places.push_back({place.name, place.file, place.firstLine, place.lastLine});
    json document{{"version", version},
                  {"places", std::move(places)},
                  {"profile", toJson(*kept.findings.profile)}};
    // Compile errors are not kept: the next process compiles again.
    if (const auto& facts = kept.findings.facts; facts && *facts)
        document["facts"] = toJson(**facts);
    if (const auto& measurement = kept.findings.measurement)
        document["measurement"] = toJson(*measurement);
    std::string bytes;
    json::to_cbor(document, bytes);
    return bytes;
}

std::optional<KeptFindings> decodeFindings(std::string_view bytes) {
    try {
        if (wire::exceedsLimits(std::as_bytes(std::span(bytes))))
            return std::nullopt;
        const json document = json::from_cbor(bytes);
        if (document.at("version") != version)
            return std::nullopt;
        KeptFindings kept;
        for (const json& place : document.at("places"))
            kept.places.push_back({place.at(0), place.at(1), place.at(2), place.at(3)});
        kept.findings.profile =
            std::make_shared<const Profile>(profileFrom(document.at("profile")));
        if (document.contains("facts"))
            kept.findings.facts =
                std::make_shared<const Result<StaticFacts>>(factsFrom(document.at("facts")));
        if (document.contains("measurement"))
            kept.findings.measurement =
                std::make_shared<const Measurement>(measurementFrom(document.at("measurement")));
        return kept;
    } catch (const json::exception&) {
        return std::nullopt;
    }
}

} // namespace kernelskill::engine
