#include "engine/execution/emulator/wire/wire.h"

#include "analysis/source/gpu_constants.h"
#include "analysis/source/json.h"
#include "engine/execution/launch_json.h"
#include "engine/process/framing.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine::emulator {

namespace {

using wire::fromJson;
using wire::Json;
using wire::number;
using wire::readEnum;
using wire::toJson;

Json toJson(const HazardDetails& details) {
    Json json{{"object", details.object},
              {"scope", number(details.scope)},
              {"pair", number(details.pair)},
              {"doubt", number(details.doubt)}};
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
    readEnum(json.at("pair"), details.pair);
    readEnum(json.at("doubt"), details.doubt);
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

/// One number for each condition, of which each bit is a member.
Json toJson(const Outcomes& conditions) {
    Json json = Json::array();
    for (const ConditionOutcomes& one : conditions)
        json.push_back((one.canBeTrue ? 1 : 0) | (one.canBeFalse ? 2 : 0) | (one.wasTrue ? 4 : 0) |
                       (one.wasFalse ? 8 : 0));
    return json;
}

Outcomes outcomesFrom(const Json& json) {
    Outcomes conditions;
    for (const Json& entry : json) {
        const auto bits = entry.get<std::uint32_t>();
        conditions.push_back({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0});
    }
    return conditions;
}

Json toJson(const std::vector<Interval>& intervals) {
    Json json = Json::array();
    for (const Interval& interval : intervals) {
        json.push_back(interval.first);
        json.push_back(interval.end);
    }
    return json;
}

std::vector<Interval> intervalsFrom(const Json& json) {
    std::vector<Interval> intervals;
    for (std::size_t i = 0; i < json.size(); i += 2)
        intervals.push_back({json.at(i).get<std::uint64_t>(), json.at(i + 1).get<std::uint64_t>()});
    return intervals;
}

Json toJson(const PartFindings& part) {
    Json touches = Json::array();
    for (const PartFindings::FirstTouch& touch : part.firstTouches)
        touches.push_back(
            Json::array({touch.site, touch.stored, touch.sectors.first, touch.sectors.end}));
    Json branches = Json::array();
    for (const PartFindings::Branch& branch : part.branches)
        branches.push_back(
            Json::array({branch.site, branch.successor, branch.branches, branch.isForeign}));
    return Json{{"needsOthers", part.needsOthers}, {"makesOrder", part.makesOrder},
                {"written", toJson(part.written)}, {"read", toJson(part.read)},
                {"touches", std::move(touches)},   {"branches", std::move(branches)}};
}

PartFindings partFrom(const Json& json) {
    PartFindings part;
    part.needsOthers = json.at("needsOthers").get<bool>();
    part.makesOrder = json.at("makesOrder").get<bool>();
    part.written = intervalsFrom(json.at("written"));
    part.read = intervalsFrom(json.at("read"));
    for (const Json& touch : json.at("touches"))
        part.firstTouches.push_back(
            {touch.at(0).get<Site>(),
             touch.at(1).get<bool>(),
             {touch.at(2).get<std::uint64_t>(), touch.at(3).get<std::uint64_t>()}});
    for (const Json& branch : json.at("branches"))
        part.branches.push_back({branch.at(0).get<Site>(), branch.at(1).get<Site>(),
                                 branch.at(2).get<bool>(), branch.at(3).get<bool>()});
    return part;
}

/// The bytes of the buffers that were `touched`, in whole sectors. Extents have the order of the
/// launch's buffers.
std::uint64_t bytesOf(const std::vector<BufferExtent>& extents, bool BufferExtent::* touched,
                      const LaunchSpec& launch) {
    std::uint64_t bytes = 0;
    auto extent = extents.begin();
    for (const ArgumentSpec& argument : launch.arguments) {
        const auto* buffer = std::get_if<BufferSpec>(&argument);
        if (buffer == nullptr || extent == extents.end())
            continue;
        if ((*extent).*touched)
            bytes += (extent->elements * std::max(buffer->elementBytes, 1u) +
                      analysis::sectorBytes - 1) /
                     analysis::sectorBytes * analysis::sectorBytes;
        ++extent;
    }
    return bytes;
}

/// Replaces invalid UTF-8: names from untrusted images may contain any bytes, but CBOR text must be
/// UTF-8 for other readers.
std::string printable(std::string text) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) >= 0x80)
            c = '?';
    }
    return text;
}

} // namespace

void scaleCounts(WorkerReport& report, const LaunchSpec& launch, std::uint64_t run) {
    const std::uint64_t all = launch.grid.count();
    if (run == 0 || run == all)
        return;
    const auto scale = [](std::uint64_t value, double factor) {
        return static_cast<std::uint64_t>(static_cast<double>(value) * factor);
    };
    Counters totals;
    for (auto& [site, counters] : report.sites) {
        for (std::uint64_t& value : counters.values)
            value = scale(value, static_cast<double>(all) / static_cast<double>(run));
        totals += counters;
    }
    for (const auto& [unique, touched] :
         {std::pair{Counter::UniqueBytesLoaded, &BufferExtent::read},
          std::pair{Counter::UniqueBytesStored, &BufferExtent::written}}) {
        const std::uint64_t most = bytesOf(report.extents, touched, launch);
        if (totals[unique] <= most)
            continue;
        for (auto& [site, counters] : report.sites)
            counters[unique] = scale(counters[unique], static_cast<double>(most) /
                                                           static_cast<double>(totals[unique]));
    }
}

std::string sampleNote(std::uint64_t all, std::uint64_t run) {
    return run == all ? std::string()
                      : fmt::format(
                            "{} of {} blocks were run; sums are scaled to the whole grid, distinct "
                            "bytes at most to the sizes of the buffers",
                            run, all);
}

void dropBranchTargets(Counters& counters) {
    counters[Counter::BranchTargets] = 0;
    counters[Counter::BranchTargetsDivergent] = 0;
}

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
              {"tolerated", job.wantTolerated},
              {"outputs", job.wantOutputs},
              {"milliseconds", job.limits.time.count()},
              {"memory", job.limits.memoryBytes},
              {"printed", job.limits.outputBytes},
              {"accesses", job.limits.accesses}};
    if (job.maxBlocks)
        json["maxBlocks"] = *job.maxBlocks;
    if (job.schedule != Schedule{})
        json["schedule"] = {number(job.schedule.order), job.schedule.seed,
                            job.schedule.interruption};
    if (message.part)
        json["part"] = {message.part->index, message.part->count};
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
        job.wantTolerated = json.at("tolerated").get<bool>();
        job.wantOutputs = json.at("outputs").get<bool>();
        job.limits.time = std::chrono::milliseconds{json.at("milliseconds").get<std::int64_t>()};
        job.limits.memoryBytes = json.at("memory").get<std::uint64_t>();
        job.limits.outputBytes = json.at("printed").get<std::uint64_t>();
        job.limits.accesses = json.at("accesses").get<std::uint64_t>();
        if (json.contains("maxBlocks"))
            job.maxBlocks = json.at("maxBlocks").get<std::uint64_t>();
        if (json.contains("schedule")) {
            readEnum(json.at("schedule").at(0), job.schedule.order);
            job.schedule.seed = json.at("schedule").at(1).get<std::uint64_t>();
            job.schedule.interruption = json.at("schedule").at(2).get<std::uint32_t>();
        }
        if (json.contains("part"))
            message.part = JobPart{json.at("part").at(0).get<std::uint64_t>(),
                                   json.at("part").at(1).get<std::uint64_t>()};
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
    for (const Contention& contention : report.contentions)
        json["contentions"].push_back(
            Json::array({printable(contention.object), contention.amongBlocks}));
    if (!report.conditions.empty())
        json["conditions"] = toJson(report.conditions);
    if (report.part)
        json["part"] = toJson(*report.part);
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
        if (json.contains("contentions")) {
            for (const Json& entry : json.at("contentions"))
                report.contentions.push_back(
                    {entry.at(0).get<std::string>(), entry.at(1).get<bool>()});
        }
        if (json.contains("conditions"))
            report.conditions = outcomesFrom(json.at("conditions"));
        if (json.contains("part"))
            report.part = partFrom(json.at("part"));
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
