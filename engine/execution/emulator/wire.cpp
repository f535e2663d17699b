#include "engine/execution/emulator/wire.h"

#include "engine/execution/framing.h"
#include "engine/execution/launch_json.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::engine::emulator {

namespace {

using wire::fromJson;
using wire::Json;
using wire::number;
using wire::readEnum;
using wire::toJson;

Json toJson(const HazardDetails& details) {
    Json json{{"object", details.object}, {"scope", number(details.scope)}};
    if (details.element)
        json["element"] = *details.element;
    if (details.other)
        json["other"] = {toJson(details.other->block), toJson(details.other->thread)};
    return json;
}

HazardDetails detailsFrom(const Json& json) {
    HazardDetails details;
    details.object = json.at("object").get<std::string>();
    readEnum(json.at("scope"), details.scope);
    if (json.contains("element"))
        details.element = json.at("element").get<std::int64_t>();
    if (json.contains("other")) {
        ThreadPlace& other = details.other.emplace();
        fromJson(json.at("other").at(0), other.block);
        fromJson(json.at("other").at(1), other.thread);
    }
    return details;
}

Json toJson(const HazardReport& hazard) {
    return Json{{"kind", number(hazard.kind)},
                {"certain", hazard.certain},
                {"site", hazard.site},
                {"other", hazard.otherSite},
                {"message", hazard.message},
                {"block", toJson(hazard.block)},
                {"thread", toJson(hazard.thread)},
                {"details", toJson(hazard.details)}};
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
    hazard.details = detailsFrom(json.at("details"));
    return hazard;
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

} // namespace

std::string siteReference(Site site) {
    return fmt::format("\x01{:x}\x02", site);
}

std::vector<std::byte> encode(const WorkerJob& message) {
    const Job& job = message.job;
    Json json{{"image", message.image},
              {"launch", toJson(job.launch)},
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
    return wire::frame(json);
}

Result<WorkerJob> decodeJob(std::span<const std::byte> payload) {
    return wire::decodeFrame<WorkerJob>(payload, [](const Json& json) {
        WorkerJob message;
        message.image = json.at("image").get<std::string>();
        Job& job = message.job;
        fromJson(json.at("launch"), job.launch);
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
    return wire::frame(json);
}

Result<WorkerReport> decodeReport(std::span<const std::byte> payload) {
    return wire::decodeFrame<WorkerReport>(payload, [](const Json& json) {
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
            fromJson(contents, report.outputs.emplace_back());
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
