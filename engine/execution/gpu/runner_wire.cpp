#include "engine/execution/gpu/runner_wire.h"

#include "analysis/source/json.h"
#include "engine/execution/launch_json.h"
#include "engine/process/error_json.h"
#include "engine/process/framing.h"

namespace kernelskill::engine::gpu {
namespace {

using std::chrono::milliseconds;
using wire::fromJson;
using wire::Json;
using wire::toJson;

template <typename... Alternatives>
struct Overloaded : Alternatives... {
    using Alternatives::operator()...;
};

Json binaryText(const std::string& text) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    return Json::binary(std::vector<std::uint8_t>(bytes, bytes + text.size()));
}

std::string textOf(const Json& json) {
    const auto& bytes = json.get_binary();
    return {bytes.begin(), bytes.end()};
}

Json toJson(const Subject& subject) {
    return {{"cubin", binaryText(subject.cubin)},
            {"symbol", subject.symbol},
            {"launch", toJson(subject.launch)}};
}

Subject subjectFrom(const Json& json) {
    Subject subject;
    subject.cubin = textOf(json.at("cubin"));
    json.at("symbol").get_to(subject.symbol);
    fromJson(json.at("launch"), subject.launch);
    return subject;
}

Error errorFrom(const Json& json) {
    Error error;
    fromJson(json, error);
    return error;
}

Json toJson(const DeviceDescription& device) {
    Json json{{"devices", device.devices},
              {"name", device.name},
              {"uuid", device.uuid},
              {"capability", {device.capabilityMajor, device.capabilityMinor}},
              {"driver", device.driverVersion},
              {"multiprocessors", device.multiprocessors},
              {"l2", device.l2Bytes},
              {"memory", device.memoryBytes},
              {"smClock", device.smClockMegahertz},
              {"memoryClock", device.memoryClockMegahertz},
              {"busBits", device.memoryBusBits}};
    if (device.profilerProblem)
        json["profilerProblem"] = toJson(*device.profilerProblem);
    return json;
}

DeviceDescription deviceFrom(const Json& json) {
    DeviceDescription device;
    json.at("devices").get_to(device.devices);
    json.at("name").get_to(device.name);
    json.at("uuid").get_to(device.uuid);
    json.at("capability").at(0).get_to(device.capabilityMajor);
    json.at("capability").at(1).get_to(device.capabilityMinor);
    json.at("driver").get_to(device.driverVersion);
    json.at("multiprocessors").get_to(device.multiprocessors);
    json.at("l2").get_to(device.l2Bytes);
    json.at("memory").get_to(device.memoryBytes);
    json.at("smClock").get_to(device.smClockMegahertz);
    json.at("memoryClock").get_to(device.memoryClockMegahertz);
    json.at("busBits").get_to(device.memoryBusBits);
    if (json.contains("profilerProblem"))
        device.profilerProblem = errorFrom(json.at("profilerProblem"));
    return device;
}

Json toJson(const Clocks& clocks) {
    return {clocks.smMegahertz, clocks.memoryMegahertz, clocks.temperatureCelsius,
            clocks.throttleReasons};
}

Clocks clocksFrom(const Json& json) {
    Clocks clocks;
    json.at(0).get_to(clocks.smMegahertz);
    json.at(1).get_to(clocks.memoryMegahertz);
    json.at(2).get_to(clocks.temperatureCelsius);
    json.at(3).get_to(clocks.throttleReasons);
    return clocks;
}

Json toJson(const TimingPlan& plan) {
    return {{"warmUp", plan.warmUpRounds},     {"least", plan.minRounds},
            {"most", plan.maxRounds},          {"budget", plan.budget.count()},
            {"longest", plan.longest.count()}, {"sweep", plan.sweepCache},
            {"clear", plan.clearRatio}};
}

TimingPlan planFrom(const Json& json) {
    TimingPlan plan;
    json.at("warmUp").get_to(plan.warmUpRounds);
    json.at("least").get_to(plan.minRounds);
    json.at("most").get_to(plan.maxRounds);
    plan.budget = milliseconds(json.at("budget").get<std::int64_t>());
    plan.longest = milliseconds(json.at("longest").get<std::int64_t>());
    json.at("sweep").get_to(plan.sweepCache);
    json.at("clear").get_to(plan.clearRatio);
    return plan;
}

Json toJson(const TimingAnswer& timing) {
    return {{"microseconds", timing.microseconds},
            {"before", toJson(timing.before)},
            {"after", toJson(timing.after)},
            {"durations", timing.areDurations}};
}

TimingAnswer timingFrom(const Json& json) {
    TimingAnswer timing;
    json.at("microseconds").get_to(timing.microseconds);
    timing.before = clocksFrom(json.at("before"));
    timing.after = clocksFrom(json.at("after"));
    json.at("durations").get_to(timing.areDurations);
    return timing;
}

Json toJson(const std::vector<BufferContents>& outputs) {
    Json json = Json::array();
    for (const BufferContents& contents : outputs)
        json.push_back(toJson(contents));
    return json;
}

std::vector<BufferContents> outputsFrom(const Json& json) {
    std::vector<BufferContents> outputs;
    for (const Json& contents : json)
        fromJson(contents, outputs.emplace_back());
    return outputs;
}

Json toJson(const RunAnswer& answer) {
    Json others = Json::array();
    for (const auto& outputs : answer.otherOutputs)
        others.push_back(toJson(outputs));
    Json stalls = Json::array();
    for (const LineStalls& line : answer.stalls)
        stalls.push_back({{"file", line.file}, {"line", line.line}, {"samples", line.samples}});
    Json json{{"outputs", toJson(answer.outputs)},
              {"otherOutputs", std::move(others)},
              {"printed", binaryText(answer.printed)},
              {"metrics", answer.metrics},
              {"passes", answer.passes},
              {"stalls", std::move(stalls)},
              {"notes", answer.notes}};
    if (answer.timing)
        json["timing"] = toJson(*answer.timing);
    return json;
}

RunAnswer runFrom(const Json& json) {
    RunAnswer answer;
    answer.outputs = outputsFrom(json.at("outputs"));
    for (const Json& outputs : json.at("otherOutputs"))
        answer.otherOutputs.push_back(outputsFrom(outputs));
    answer.printed = textOf(json.at("printed"));
    json.at("metrics").get_to(answer.metrics);
    json.at("passes").get_to(answer.passes);
    for (const Json& line : json.at("stalls")) {
        auto& stalls = answer.stalls.emplace_back();
        line.at("file").get_to(stalls.file);
        line.at("line").get_to(stalls.line);
        line.at("samples").get_to(stalls.samples);
    }
    if (json.contains("timing"))
        answer.timing = timingFrom(json.at("timing"));
    json.at("notes").get_to(answer.notes);
    return answer;
}

Json toJson(const CeilingsAnswer& ceilings) {
    return {ceilings.copyBytesPerSecond, ceilings.readBytesPerSecond, ceilings.l2BytesPerSecond,
            ceilings.float32PerSecond, ceilings.float64PerSecond};
}

CeilingsAnswer ceilingsFrom(const Json& json) {
    CeilingsAnswer ceilings;
    json.at(0).get_to(ceilings.copyBytesPerSecond);
    json.at(1).get_to(ceilings.readBytesPerSecond);
    json.at(2).get_to(ceilings.l2BytesPerSecond);
    json.at(3).get_to(ceilings.float32PerSecond);
    json.at(4).get_to(ceilings.float64PerSecond);
    return ceilings;
}

RunRequest runRequestFrom(const Json& json) {
    RunRequest request;
    request.subject = subjectFrom(json.at("subject"));
    json.at("seed").get_to(request.seed);
    json.at("outputs").get_to(request.wantOutputs);
    json.at("launches").get_to(request.launches);
    json.at("metrics").get_to(request.metrics);
    json.at("stalls").get_to(request.wantStalls);
    if (json.contains("timing"))
        request.timing = planFrom(json.at("timing"));
    request.time = milliseconds(json.at("milliseconds").get<std::int64_t>());
    return request;
}

TimingRequest timingRequestFrom(const Json& json) {
    TimingRequest request;
    for (const Json& subject : json.at("subjects"))
        request.subjects.push_back(subjectFrom(subject));
    json.at("seed").get_to(request.seed);
    request.plan = planFrom(json.at("plan"));
    request.time = milliseconds(json.at("milliseconds").get<std::int64_t>());
    return request;
}

[[noreturn]] void unknownMessage() {
    throw Json::other_error::create(501, "unknown message", nullptr);
}

constexpr std::chrono::milliseconds shortJob{30'000};

} // namespace

std::chrono::milliseconds timeLimit(const Request& request) {
    if (const auto* run = std::get_if<RunRequest>(&request))
        return run->time;
    if (const auto* timing = std::get_if<TimingRequest>(&request))
        return timing->time;
    return shortJob;
}

std::vector<std::byte> encode(const Request& request) {
    return wire::frame(
        std::visit(Overloaded{[](const DescribeRequest&) { return Json{{"do", "describe"}}; },
                              [](const CeilingsRequest&) { return Json{{"do", "ceilings"}}; },
                              [](const RunRequest& run) {
                                  Json json{{"do", "run"},
                                            {"subject", toJson(run.subject)},
                                            {"seed", run.seed},
                                            {"outputs", run.wantOutputs},
                                            {"launches", run.launches},
                                            {"metrics", run.metrics},
                                            {"stalls", run.wantStalls},
                                            {"milliseconds", run.time.count()}};
                                  if (run.timing)
                                      json["timing"] = toJson(*run.timing);
                                  return json;
                              },
                              [](const TimingRequest& timing) {
                                  Json subjects = Json::array();
                                  for (const Subject& subject : timing.subjects)
                                      subjects.push_back(toJson(subject));
                                  return Json{{"do", "time"},
                                              {"subjects", std::move(subjects)},
                                              {"seed", timing.seed},
                                              {"plan", toJson(timing.plan)},
                                              {"milliseconds", timing.time.count()}};
                              }},
                   request));
}

Result<Request> decodeRequest(std::span<const std::byte> payload) {
    return wire::decodeFrame<Request>(payload, [](const Json& json) -> Request {
        const auto what = json.at("do").get<std::string>();
        if (what == "describe")
            return DescribeRequest{};
        if (what == "ceilings")
            return CeilingsRequest{};
        if (what == "run")
            return runRequestFrom(json);
        if (what == "time")
            return timingRequestFrom(json);
        unknownMessage();
    });
}

std::vector<std::byte> encode(const Answer& answer) {
    return wire::frame(std::visit(
        Overloaded{
            [](const DeviceDescription& device) { return Json{{"device", toJson(device)}}; },
            [](const RunAnswer& run) { return Json{{"run", toJson(run)}}; },
            [](const TimingAnswer& timing) { return Json{{"timing", toJson(timing)}}; },
            [](const CeilingsAnswer& ceilings) { return Json{{"ceilings", toJson(ceilings)}}; },
            [](const FailureAnswer& failure) {
                return Json{{"failure", toJson(failure.error)}, {"fatal", failure.isFatal}};
            }},
        answer));
}

Result<Answer> decodeAnswer(std::span<const std::byte> payload) {
    return wire::decodeFrame<Answer>(payload, [](const Json& json) -> Answer {
        if (json.contains("device"))
            return deviceFrom(json.at("device"));
        if (json.contains("run"))
            return runFrom(json.at("run"));
        if (json.contains("ceilings"))
            return ceilingsFrom(json.at("ceilings"));
        if (json.contains("failure"))
            return FailureAnswer{errorFrom(json.at("failure")), json.at("fatal").get<bool>()};
        if (json.contains("timing"))
            return timingFrom(json.at("timing"));
        unknownMessage();
    });
}

} // namespace kernelskill::engine::gpu
