#include "engine/graph/model/placement.h"

#include "analysis/raise/cost.h"
#include "analysis/syntax/scalar_bytes.h"

#include <algorithm>
#include <optional>

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
    for (const Lifetime& lifetime : lifetimes) {
        const auto size = bytes(lifetime);
        if (!size) {
            placement.dynamic.push_back(lifetime.buffer);
            continue;
        }
        const std::int64_t begin = firstGap(all, lifetime, *size);
        all.push_back({lifetime, begin, begin + *size});
        placement.offsets[lifetime.buffer] = begin;
        placement.bytes = std::max(placement.bytes, begin + *size);
    }
    return placement;
}

} // namespace kernelskill::engine::graph
