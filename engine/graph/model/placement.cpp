#include "engine/graph/model/placement.h"

#include "analysis/raise/cost.h"
#include "analysis/syntax/scalar_bytes.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

struct Placed {
    Lifetime lifetime;
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// The first gap of `bytes` between those that hold values at the same time.
std::int64_t firstGap(const std::vector<Placed>& all, const Lifetime& lifetime,
                      std::int64_t bytes) {
    std::vector<const Placed*> others;
    for (const Placed& other : all)
        if (other.lifetime.first <= lifetime.last && lifetime.first <= other.lifetime.last)
            others.push_back(&other);
    std::ranges::sort(others, {}, &Placed::begin);
    std::int64_t begin = 0;
    for (const Placed* other : others) {
        if (other->begin - begin >= bytes)
            break;
        begin = std::max(begin, other->end);
    }
    return begin;
}

bool meet(const Lifetime& one, const Lifetime& other) {
    return one.first <= other.last && other.first <= one.last;
}

/// Shares places between buffers that do not meet, of about one size where there is a choice.
std::vector<std::vector<analysis::raise::BufferId>>
sharedPlaces(const analysis::raise::Program& program, std::vector<Lifetime> lifetimes) {
    const auto size = [&](const Lifetime& lifetime) {
        return analysis::raise::estimatedBytes(program.buffers.at(lifetime.buffer));
    };
    // Large ones first: the first of a place is its largest, as far as that is known.
    std::ranges::stable_sort(lifetimes, std::greater<>(), size);
    std::vector<std::vector<Lifetime>> places;
    for (const Lifetime& lifetime : lifetimes) {
        std::vector<Lifetime>* best = nullptr;
        for (std::vector<Lifetime>& place : places) {
            const bool isFree = std::ranges::none_of(
                place, [&](const Lifetime& other) { return meet(lifetime, other); });
            if (isFree && (best == nullptr || size(place.front()) < size(best->front())))
                best = &place;
        }
        if (best == nullptr)
            best = &places.emplace_back();
        best->push_back(lifetime);
    }
    std::vector<std::vector<analysis::raise::BufferId>> buffers;
    for (const std::vector<Lifetime>& place : places) {
        auto& ids = buffers.emplace_back();
        for (const Lifetime& lifetime : place)
            ids.push_back(lifetime.buffer);
    }
    return buffers;
}

} // namespace

Placement placed(const analysis::raise::Program& program, std::vector<Lifetime> lifetimes) {
    const auto bytes = [&](const Lifetime& lifetime) -> std::optional<std::int64_t> {
        const analysis::raise::Buffer& buffer = program.buffers.at(lifetime.buffer);
        const auto elements = elementsOf(buffer.shape).constant();
        if (!elements)
            return std::nullopt;
        const std::int64_t unit = placementAlignment;
        return std::max<std::int64_t>(
                   (*elements * static_cast<std::int64_t>(analysis::scalarBytes(buffer.element)) +
                    unit - 1) /
                       unit,
                   1) *
               unit;
    };
    // Large ones first: small ones fit into what is left.
    std::ranges::stable_sort(lifetimes, std::greater<>(),
                             [&](const Lifetime& each) { return bytes(each).value_or(0); });
    Placement placement;
    std::vector<Placed> all;
    std::vector<Lifetime> dynamic;
    for (const Lifetime& lifetime : lifetimes) {
        const auto size = bytes(lifetime);
        if (!size) {
            dynamic.push_back(lifetime);
            continue;
        }
        const std::int64_t begin = firstGap(all, lifetime, *size);
        all.push_back({lifetime, begin, begin + *size});
        placement.offsets[lifetime.buffer] = begin;
        placement.bytes = std::max(placement.bytes, begin + *size);
    }
    placement.dynamic = sharedPlaces(program, std::move(dynamic));
    return placement;
}

} // namespace kernelskill::engine::graph
