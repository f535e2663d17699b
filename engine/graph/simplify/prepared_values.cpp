#include "analysis/raise/cost.h"
#include "analysis/raise/inverse.h"
#include "analysis/raise/rewrite.h"
#include "analysis/raise/weights_alone.h"
#include "engine/graph/simplify/rules.h"
#include "engine/graph/simplify/weight_values.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

namespace raise = analysis::raise;

/// The elements of the largest buffer that a value reads.
double largestRead(const raise::Program& program, const raise::Scalar& value) {
    double largest = 0;
    raise::forEachNode(value, [&](const raise::ScalarNode& node) {
        if (node.kind == raise::ScalarNode::Kind::Load)
            largest =
                std::max(largest, raise::estimatedElements(program.buffers[node.buffer].shape));
    });
    return largest;
}

/// Whether each load is inside of its buffer for all elements of the axes, without a guard.
bool isAlwaysInside(const raise::Program& program, const raise::Scalar& value) {
    bool isInside = true;
    raise::forEachNode(value, [&](const raise::ScalarNode& node) {
        if (node.kind == raise::ScalarNode::Kind::Load)
            isInside =
                isInside && raise::isInsideOf(node.position, program.buffers[node.buffer].shape);
    });
    return isInside;
}

class Preparing {
public:
    explicit Preparing(raise::Program program) : program_(std::move(program)) {}

    raise::Program run() {
        interner_.intern(program_);
        // New steps are read only by steps that are done already.
        const WeightValues values(program_);
        std::size_t step = 0;
        for (const bool isAlone : raise::dependsOnWeightsAlone(program_)) {
            if (!isAlone && std::holds_alternative<raise::Computation>(program_.steps[step]))
                step += prepare(step, values);
            ++step;
        }
        return std::move(program_);
    }

private:
    /// Returns the number of steps that were put before the step.
    std::size_t prepare(std::size_t step, const WeightValues& values) {
        auto computation = std::get<raise::Computation>(program_.steps[step]);
        std::vector<raise::Axis> axes = computation.axes;
        axes.insert(axes.end(), computation.reduced.begin(), computation.reduced.end());
        std::vector<raise::Scalar> parts;
        std::unordered_set<const raise::ScalarNode*> seen;
        for (const raise::Scalar& root : raise::rootsOf(computation))
            collect(root, values, axes, parts, seen);
        raise::NodeReplacements replacements;
        for (const raise::Scalar& part : parts)
            replacements.emplace(part.get(), computedBefore(program_, step,
                                                            {computation.name + "_weights",
                                                             computation.sources,
                                                             part,
                                                             axesIn(part, axes),
                                                             {},
                                                             {}}));
        if (parts.empty())
            return 0;
        raise::rewriteRoots(computation, [&](const raise::Scalar& root) {
            return interner_(raise::withNodes(root, replacements));
        });
        program_.steps[step + parts.size()] = std::move(computation);
        return parts.size();
    }

    /// The largest parts that can be prepared.
    void collect(const raise::Scalar& value, const WeightValues& values,
                 const std::vector<raise::Axis>& axes, std::vector<raise::Scalar>& parts,
                 std::unordered_set<const raise::ScalarNode*>& seen) const {
        if (!seen.insert(value.get()).second)
            return;
        if (isWorth(value, values, axes)) {
            parts.push_back(value);
            return;
        }
        for (const raise::Scalar& argument : value->arguments)
            collect(argument, values, axes, parts, seen);
    }

    [[nodiscard]] bool isWorth(const raise::Scalar& value, const WeightValues& values,
                               const std::vector<raise::Axis>& axes) const {
        const double read = largestRead(program_, value);
        return raise::operationsIn(value) > 0 && read > 0 && values.hasAlone(value) &&
               raise::estimatedElements(axesIn(value, axes)) <= 4 * read &&
               isAlwaysInside(program_, value);
    }

    raise::Program program_;
    raise::Interner interner_;
};

} // namespace

raise::Program withPreparedValues(raise::Program program) {
    return Preparing(std::move(program)).run();
}

} // namespace kernelskill::engine::graph
