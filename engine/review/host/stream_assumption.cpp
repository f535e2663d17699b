#include "engine/review/host/stream_assumption.h"

#include <algorithm>

namespace kernelskill::engine {
namespace {

constexpr std::size_t maxOutsideStreams = 2; // from outside

bool hasLegacy(const StreamAssumption& assumption) {
    return std::ranges::any_of(assumption.kinds,
                               [](const auto& lane) { return lane.second == StreamKind::Legacy; });
}

/// `known`, each with every way in which `name` may be a stream of its own.
std::vector<StreamAssumption> withOwnLane(const StreamAssumption& known, const std::string& name) {
    std::vector<StreamAssumption> all;
    for (const StreamKind kind :
         {StreamKind::Legacy, StreamKind::Blocking, StreamKind::NonBlocking}) {
        if (kind == StreamKind::Legacy && hasLegacy(known))
            continue;
        StreamAssumption with = known;
        with.lanes[name] = name;
        with.kinds[name] = kind;
        all.push_back(std::move(with));
    }
    return all;
}

} // namespace

std::optional<std::vector<StreamAssumption>>
streamAssumptions(const std::set<std::string>& outside) {
    if (outside.size() > maxOutsideStreams)
        return std::nullopt;
    std::vector<StreamAssumption> all;
    // The default stream is one of each thread if the compiler was told so.
    for (const StreamKind kind : {StreamKind::Legacy, StreamKind::Blocking}) {
        StreamAssumption start;
        start.lanes[defaultStream] = defaultStream;
        start.kinds[defaultStream] = kind;
        for (StreamAssumption& with : withOwnLane(start, elsewhere))
            all.push_back(std::move(with));
    }
    for (const std::string& name : outside) {
        std::vector<StreamAssumption> next;
        for (const StreamAssumption& known : all) {
            for (const auto& [other, lane] : known.lanes) {
                if (lane == elsewhere || other != lane)
                    continue;
                next.push_back(known);
                next.back().lanes[name] = lane;
            }
            for (StreamAssumption& with : withOwnLane(known, name))
                next.push_back(std::move(with));
        }
        all = std::move(next);
    }
    std::vector<StreamAssumption> combined;
    for (const StreamAssumption& known : all)
        for (const bool isPageable : {false, true})
            for (const bool waits : {false, true}) {
                if (waits && !hasLegacy(known))
                    continue;
                combined.push_back(known);
                combined.back().isPageable = isPageable;
                combined.back().waitsForBlocking = waits;
            }
    return combined;
}

} // namespace kernelskill::engine
