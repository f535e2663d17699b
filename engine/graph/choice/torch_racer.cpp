#include "engine/graph/choice/torch_racer.h"

#include <chrono>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

/// The child waits while other processes have the GPU.
constexpr std::chrono::milliseconds patience{300'000};

} // namespace

TorchSubject TorchRacer::subject() const {
    TorchSubject subject;
    subject.archive = options_.archive;
    subject.device = options_.device;
    subject.allowsTf32 = options_.allowsTf32;
    return subject;
}

TorchHeatRequest TorchRacer::requestFor(const std::optional<ProgramPart>& part) const {
    TorchHeatRequest request;
    request.subject = subject();
    request.subject.part = part;
    request.rounds = options_.rounds;
    request.time = patience;
    return request;
}

void TorchRacer::build(std::size_t place, const std::optional<ProgramPart>& part,
                       const std::vector<ModelFiles>& variants) {
    Entry& entry = places_[place];
    entry.part = part;
    // Whole models come last, and may be all that is timed of them when the time is nearly up.
    const auto urgency = part ? ModelBuilder::Urgency::Usual : ModelBuilder::Urgency::Next;
    for (const ModelFiles& files : variants)
        entry.models.push_back(builder_.begin(files, urgency));
    // A request without models starts the child. If it fails, race() fails as well and says why.
    if (!warmingUp_.joinable())
        warmingUp_ = std::jthread([this, request = requestFor(part)](const std::stop_token& stop) {
            static_cast<void>(torch_.runHeat(request, stop));
        });
}

Result<std::vector<VariantTime>> TorchRacer::race(std::size_t place, const RaceStops& stops) {
    const std::vector<std::size_t>& models = places_.at(place).models;
    std::vector<VariantTime> times(models.size());
    TorchHeatRequest request = requestFor(places_.at(place).part);
    std::vector<std::size_t> lanes; // The variants of the request's libraries.
    bool hasLate = false;
    for (std::size_t i = 0; i < models.size(); ++i) {
        const auto library = builder_.wait(models[i], stops.compiling);
        if (!library) {
            const bool isLate = library.error().kind == ErrorKind::Cancelled;
            hasLate = hasLate || isLate;
            times[i].why = isLate ? "it was not compiled in time" : library.error().describe();
            continue;
        }
        request.libraries.push_back(*library);
        lanes.push_back(i);
    }
    if (hasLate && lanes.size() < 2)
        return std::unexpected(
            Error{ErrorKind::Cancelled, "the variants were not compiled in time", "", ""});
    if (lanes.empty())
        return std::unexpected(
            Error{ErrorKind::Failed, "no variant compiles: " + times.front().why, "", ""});
    auto heat = torch_.runHeat(request, stops.all);
    // A variant that fails may end the child or leave the GPU unusable, so the first and the last
    // one are timed alone: the most exact own kernels and the library.
    if (!heat && heat.error().kind == ErrorKind::Failed && lanes.size() > 2) {
        for (std::size_t i = 1; i + 1 < lanes.size(); ++i)
            times[lanes[i]].why =
                "not timed, because one of the variants failed: " + heat.error().describe();
        lanes = {lanes.front(), lanes.back()};
        request.libraries = {request.libraries.front(), request.libraries.back()};
        heat = torch_.runHeat(request, stops.all);
    }
    if (!heat)
        return std::unexpected(heat.error());
    for (std::size_t i = 0; i < lanes.size() && i < heat->lanes.size(); ++i) {
        const HeatLane& lane = heat->lanes[i];
        VariantTime& time = times[lanes[i]];
        time.why = lane.why;
        if (!lane.timing || lane.timing->microseconds.empty())
            continue;
        time.microseconds = lane.timing->median();
        time.spread = lane.timing->spread();
    }
    return times;
}

Result<std::vector<MixVerdict>> TorchRacer::judge(const std::vector<VariantMix>& mixes,
                                                  std::stop_token stop) {
    TorchMixRequest request;
    request.subject = subject();
    request.tolerance = options_.tolerance;
    request.share = options_.share;
    request.time = patience;
    std::vector<MixVerdict> verdicts(mixes.size());
    std::vector<std::size_t> asked; // The mixes of the request.
    // All compilers work before the first model is waited for.
    std::vector<std::vector<std::size_t>> models;
    for (const VariantMix& mix : mixes) {
        std::vector<std::size_t>& ofMix = models.emplace_back();
        for (const PlacedVariant& variant : mix)
            ofMix.push_back(builder_.begin(*variant.files, ModelBuilder::Urgency::Next));
    }
    for (std::size_t i = 0; i < mixes.size(); ++i) {
        std::vector<std::size_t> libraries;
        for (std::size_t k = 0; k < mixes[i].size() && verdicts[i].why.empty(); ++k) {
            const auto library = builder_.wait(models[i][k], stop);
            if (!library && library.error().kind == ErrorKind::Cancelled)
                return std::unexpected(library.error());
            if (!library) {
                verdicts[i].why = library.error().describe();
                continue;
            }
            libraries.push_back(request.libraries.size());
            request.libraries.push_back({mixes[i][k].part, *library});
        }
        if (!verdicts[i].why.empty())
            continue;
        request.mixes.push_back(std::move(libraries));
        asked.push_back(i);
    }
    if (asked.empty())
        return verdicts;
    auto judged = torch_.judgeMixes(request, stop);
    if (!judged)
        return std::unexpected(judged.error());
    for (std::size_t i = 0; i < asked.size() && i < judged->verdicts.size(); ++i)
        verdicts[asked[i]] = std::move(judged->verdicts[i]);
    return verdicts;
}

} // namespace kernelskill::engine::graph
