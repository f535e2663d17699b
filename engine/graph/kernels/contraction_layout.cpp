#include "engine/graph/kernels/contraction_layout.h"

#include "engine/graph/kernels/contraction_schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::ScalarKind;
using analysis::raise::Axis;
using analysis::raise::Buffer;
using analysis::raise::BufferId;
using analysis::raise::Computation;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::Scalar;
using analysis::raise::ScalarNode;
using analysis::raise::Step;

class WeightPacking {
public:
    explicit WeightPacking(Program program) : program_(std::move(program)) {
        for (BufferId i = 0; i < program_.buffers.size(); ++i)
            if (program_.buffers[i].role == Buffer::Role::Weight)
                constants_.insert(i);
    }

    Program run() {
        std::vector<Step> steps = std::move(program_.steps);
        program_.steps.clear();
        for (Step& step : steps) {
            auto* computation = std::get_if<Computation>(&step);
            if (computation != nullptr && !isOfConstants(*computation))
                pack(*computation);
            else if (computation != nullptr)
                for (const analysis::raise::Store& store : computation->stores)
                    constants_.insert(store.buffer);
            program_.steps.push_back(std::move(step));
        }
        return std::move(program_);
    }

private:
    [[nodiscard]] bool isConstant(const Scalar& value) const {
        bool loads = false;
        bool isConstant = true;
        forEachNode(value, [&](const ScalarNode& node) {
            if (node.kind != ScalarNode::Kind::Load)
                return;
            loads = true;
            isConstant = isConstant && constants_.contains(node.buffer);
        });
        return loads && isConstant;
    }

    /// Whether all that it reads depends on weights alone.
    [[nodiscard]] bool isOfConstants(const Computation& computation) const {
        bool all = true;
        const auto look = [&](const Scalar& value) {
            forEachNode(value, [&](const ScalarNode& node) {
                all = all &&
                      (node.kind != ScalarNode::Kind::Load || constants_.contains(node.buffer));
            });
        };
        for (const analysis::raise::Reduction& reduction : computation.reductions)
            look(reduction.element);
        for (const analysis::raise::Store& store : computation.stores)
            look(store.value);
        return all;
    }

    void pack(Computation& computation) {
        auto contraction = contractionOf(program_, computation);
        if (!contraction)
            return;
        const bool isLeft = isConstant(contraction->left);
        if (isLeft == isConstant(contraction->right))
            return;
        Scalar& weights = isLeft ? contraction->left : contraction->right;
        const std::vector<Axis>& outer = isLeft ? contraction->rows : contraction->columns;
        const FactorAxes other = isLeft ? FactorAxes{contraction->right, contraction->columns}
                                        : FactorAxes{contraction->left, contraction->rows};
        const DepthOrder order = depthOrderOf(program_, contraction->depth, {other});
        if (accessOf(program_, weights, outer, order).width > 1)
            return;
        const std::vector<Axis> axes = packedAxes(*contraction, weights, outer, order);
        if (axes.empty())
            return;
        program_.axes = std::max(program_.axes, contraction->axes);
        weights = packed(*contraction, weights, axes);
        contraction->computation.reductions[0].element =
            call(ScalarKind::Float, analysis::raise::Function::Multiply,
                 {contraction->left, contraction->right});
        computation = std::move(contraction->computation);
    }

    /// The axes of the packed weights, the last one innermost; empty if an extent is not constant,
    /// or four neighbours could not be loaded at once in any order.
    static std::vector<Axis> packedAxes(const Contraction& contraction, const Scalar& weights,
                                        const std::vector<Axis>& outer, const DepthOrder& order) {
        std::vector<Axis> axes;
        const auto add = [&](const std::vector<Axis>& list) {
            for (const Axis& axis : list)
                if (mentions(weights, axis.id))
                    axes.push_back(axis);
        };
        const auto isInFours = [](const std::vector<Axis>& list) {
            const auto extent = extentOf(list).constant();
            return extent && *extent % 4 == 0;
        };
        if (!isInFours(outer) && !isInFours(order.inner))
            return {};
        add(contraction.batches);
        add(order.taps);
        if (isInFours(outer)) {
            add(order.inner);
            add(outer);
        } else {
            add(outer);
            add(order.inner);
        }
        const bool areConstant = std::ranges::all_of(
            axes, [](const Axis& axis) { return axis.extent->constant().has_value(); });
        return areConstant ? axes : std::vector<Axis>{};
    }

    /// Adds the step that packs them; returns an element of the result.
    Scalar packed(const Contraction& contraction, const Scalar& weights,
                  const std::vector<Axis>& axes) {
        std::vector<Index> shape;
        std::vector<Index> position;
        Computation step;
        step.name = contraction.computation.name + "_weights";
        step.sources = contraction.computation.sources;
        std::map<std::uint32_t, Index> own;
        std::vector<Index> written;
        for (const Axis& axis : axes) {
            shape.push_back(*axis.extent);
            position.push_back(Index::of(axis));
            step.axes.push_back({program_.axes++, axis.name, axis.extent});
            written.push_back(Index::of(step.axes.back()));
            own[axis.id] = written.back();
        }
        const auto buffer = static_cast<BufferId>(program_.buffers.size());
        program_.buffers.push_back({freshBufferName(program_, step.name), ScalarKind::Float, shape,
                                    Buffer::Role::Local, ""});
        step.stores.push_back({buffer, written, substituted(weights, own)});
        constants_.insert(buffer);
        program_.steps.emplace_back(std::move(step));
        return load(ScalarKind::Float, buffer, position);
    }

    Program program_;
    std::set<BufferId> constants_; ///< Buffers that depend on weights alone.
};

} // namespace

Program withPackedWeights(Program program) {
    return WeightPacking(std::move(program)).run();
}

} // namespace kernelskill::engine::graph
