#include "engine/graph/simplify/weight_values.h"

#include "analysis/raise/rewrite.h"
#include "analysis/raise/uses.h"
#include "analysis/raise/weights_alone.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace kernelskill::engine::graph {

namespace raise = analysis::raise;

WeightValues::WeightValues(const raise::Program& program) {
    for (const raise::Buffer& buffer : program.buffers)
        isKnown_.push_back(buffer.role == raise::Buffer::Role::Weight);
    for (const std::size_t step : raise::stepsOfWeightsAlone(program))
        for (const raise::BufferId buffer : raise::writesOf(program.steps[step]))
            isKnown_[buffer] = true;
}

bool WeightValues::hasAlone(const raise::Scalar& value) const {
    if (value == nullptr)
        return true;
    bool isAlone = !raise::hasSize(value);
    raise::forEachRead(
        value, [&](raise::BufferId buffer, bool) { isAlone = isAlone && isKnown_.at(buffer); });
    raise::forEachNode(value, [&](const raise::ScalarNode& node) {
        isAlone = isAlone && node.kind != raise::ScalarNode::Kind::Accumulated;
    });
    return isAlone;
}

std::vector<raise::Axis> axesIn(const raise::Scalar& value, const std::vector<raise::Axis>& axes) {
    std::vector<raise::Axis> result;
    if (value != nullptr)
        std::ranges::copy_if(axes, std::back_inserter(result), [&](const raise::Axis& axis) {
            return raise::mentions(value, axis.id);
        });
    return result;
}

std::string newBufferName(const raise::Program& program, const std::string& base) {
    std::string name = base;
    const auto isTaken = [&] {
        return std::ranges::find(program.buffers, name, &raise::Buffer::name) !=
               program.buffers.end();
    };
    for (std::size_t number = 2; isTaken(); ++number)
        name = fmt::format("{}_{}", base, number);
    return name;
}

namespace {

using Places = std::map<std::uint32_t, raise::Index>;

/// All elements of the axes, as places of them.
std::vector<Places> elementsOf(const std::vector<raise::Axis>& axes) {
    std::vector<Places> all{{}};
    for (const raise::Axis& axis : axes) {
        std::vector<Places> next;
        for (const Places& places : all)
            for (std::int64_t i = 0; i < axis.extent->constant().value_or(0); ++i) {
                next.push_back(places);
                next.back().emplace(axis.id, raise::Index(i));
            }
        all = std::move(next);
    }
    return all;
}

} // namespace

raise::Scalar computedBefore(raise::Program& program, std::size_t before, const NewBuffer& buffer) {
    raise::Computation computation;
    computation.name = newBufferName(program, buffer.name);
    computation.sources = buffer.sources;
    std::vector<raise::Axis> axes = buffer.axes;
    axes.insert(axes.end(), buffer.unrolled.begin(), buffer.unrolled.end());
    std::vector<raise::Index> shape;
    for (const raise::Axis& axis : axes)
        shape.push_back(*axis.extent);
    const auto id = static_cast<raise::BufferId>(program.buffers.size());
    const analysis::ScalarKind type = buffer.value->type;
    program.buffers.push_back({computation.name, type, shape, raise::Buffer::Role::Local, ""});
    // The axes stand in other computations too: each computation has its own.
    Places places;
    const auto renewed = [&](const std::vector<raise::Axis>& old) {
        std::vector<raise::Axis> result;
        for (const raise::Axis& axis : old) {
            result.push_back({program.axes++, axis.name, axis.extent});
            places.emplace(axis.id, raise::Index::of(result.back()));
        }
        return result;
    };
    computation.axes = renewed(buffer.axes);
    computation.reduced = renewed(buffer.reduced);
    raise::Interner interner; // Equal sums are one.
    for (const Places& element : elementsOf(buffer.unrolled)) {
        Places all = places;
        all.insert(element.begin(), element.end());
        raise::Scalar value = interner(raise::relocated(buffer.value, all));
        if (!computation.reduced.empty()) {
            auto& sums = computation.reductions;
            const auto known = std::ranges::find(sums, value, &raise::Reduction::element);
            const auto number = static_cast<std::size_t>(known - sums.begin());
            if (known == sums.end())
                sums.push_back({raise::Reducer::Sum, value, type});
            value = raise::accumulated(type, number);
        }
        computation.stores.push_back({id, raise::relocated(raise::indicesOf(axes), all), value});
    }
    program.steps.insert(program.steps.begin() + static_cast<std::ptrdiff_t>(before),
                         std::move(computation));
    return raise::load(type, id, raise::indicesOf(axes));
}

} // namespace kernelskill::engine::graph
