#include "analysis/raise/fused_stores.h"

#include "analysis/raise/inverse.h"
#include "analysis/raise/live_steps.h"
#include "analysis/raise/rewrite.h"
#include "analysis/raise/sources.h"
#include "analysis/raise/uses.h"
#include "analysis/raise/weights_alone.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

bool isMap(const Computation& computation) {
    return computation.reduced.empty() && computation.reductions.empty();
}

class FusingStores {
public:
    FusingStores(Program program, const StoreLimits& limits)
        : program_(std::move(program)), limits_(limits) {}

    Program run() {
        while (fuseOne())
            program_ = withoutDeadSteps(inOrderOfNeeds(std::move(program_)));
        return std::move(program_);
    }

private:
    bool fuseOne() {
        const Uses uses(program_);
        const std::vector<bool> alone = dependsOnWeightsAlone(program_);
        for (std::size_t step = 0; step < program_.steps.size(); ++step) {
            const auto* map = std::get_if<Computation>(&program_.steps[step]);
            if (map == nullptr || !isMap(*map))
                continue;
            // The buffer that is written last restrains the order the least.
            std::vector<std::pair<std::size_t, BufferId>> candidates;
            for (const BufferId buffer : uses.readBy(step))
                if (const auto place = uses.writer(buffer);
                    place && alone[place->step] == alone[step])
                    candidates.emplace_back(place->step, buffer);
            std::ranges::sort(candidates, std::greater<>());
            for (const auto& [writer, buffer] : candidates)
                if (fuse(step, *uses.writer(buffer), buffer, uses))
                    return true;
        }
        return false;
    }

    bool fuse(std::size_t step, StorePlace place, BufferId buffer, const Uses& uses) {
        const auto& map = std::get<Computation>(program_.steps[step]);
        auto& writer = std::get<Computation>(program_.steps[place.step]);
        const Buffer& read = program_.buffers[buffer];
        // A buffer that nothing else reads is stored no more.
        const bool isLast = read.role == Buffer::Role::Local && uses.readers(buffer).size() == 1;
        if (writer.stores.size() + map.stores.size() > limits_.stores + (isLast ? 1 : 0) ||
            !readsPlainly(map, buffer))
            return false;
        const bool needsLater = std::ranges::any_of(uses.readBy(step), [&](BufferId other) {
            return other != buffer && uses.bufferDepends(other, place.step);
        });
        const auto position = positionRead(map, buffer);
        if (needsLater || !position || !coversAll(map.axes, read.shape))
            return false;
        const std::uint32_t axes = program_.axes;
        const std::vector<Axis> components = newAxes(program_, read.shape, "p");
        const Inverse inverse = inverseOf(*position, map.axes, components);
        if (!inverse.isWhole) {
            program_.axes = axes;
            return false;
        }
        const Store& written = writer.stores[place.store];
        std::map<std::uint32_t, Index> elements;
        for (std::size_t i = 0; i < components.size(); ++i)
            elements.emplace(components[i].id, written.position[i]);
        std::map<std::uint32_t, Index> places;
        for (const auto& [axis, index] : inverse.axes)
            places.emplace(axis, joined(index.substituted(elements)));
        const Scalar value = written.value;
        std::vector<Store> stores;
        for (const Store& store : map.stores)
            stores.push_back(
                {store.buffer, relocated(store.position, places),
                 replaced(relocated(store.value, places), [&](const ScalarNode& node) -> Scalar {
                     return node.kind == ScalarNode::Kind::Load && node.buffer == buffer ? value
                                                                                         : nullptr;
                 })});
        writer.stores.insert(writer.stores.end(), stores.begin(), stores.end());
        addSources(writer, map);
        program_.steps.erase(program_.steps.begin() + static_cast<std::ptrdiff_t>(step));
        return true;
    }

    /// Whether the buffer says no place in the map.
    static bool readsPlainly(const Computation& map, BufferId buffer) {
        bool isPlain = true;
        for (const Scalar& root : rootsOf(map))
            forEachRead(root, [&](BufferId read, bool saysPlace) {
                isPlain = isPlain && (read != buffer || !saysPlace);
            });
        return isPlain;
    }

    Program program_;
    StoreLimits limits_;
};

} // namespace

Program withFusedStores(Program program, const StoreLimits& limits) {
    return FusingStores(std::move(program), limits).run();
}

} // namespace kernelskill::analysis::raise
