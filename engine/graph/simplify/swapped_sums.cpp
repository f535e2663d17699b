#include "analysis/raise/affine.h"
#include "analysis/raise/cost.h"
#include "analysis/raise/rewrite.h"
#include "analysis/raise/sources.h"
#include "analysis/raise/uses.h"
#include "engine/graph/simplify/guarded_sum.h"
#include "engine/graph/simplify/joined_kernel.h"
#include "engine/graph/simplify/nested_sum.h"
#include "engine/graph/simplify/rules.h"
#include "engine/graph/simplify/weight_values.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

namespace raise = analysis::raise;
using raise::Axis;
using raise::Computation;
using raise::Function;
using raise::Index;
using raise::Scalar;
using raise::ScalarNode;

bool standsIn(const Scalar& value, const Axis& axis) {
    return value != nullptr && raise::mentions(value, axis.id);
}

double termsOf(const Computation& computation) {
    return raise::estimatedElements(computation.axes) *
           raise::estimatedElements(computation.reduced);
}

/// Puts sums of the factors before the outer sum, in a copy of the program.
class Swapping {
public:
    Swapping(raise::Program program, std::size_t step, NestedSum nested)
        : program_(std::move(program)), step_(step), nested_(std::move(nested)) {}

    /// The program, if that is less work. The axes of the outer sum are summed before, or joined
    /// with those of a kernel.
    std::optional<raise::Program> run(bool joins) {
        // A sum of weights alone is computed once, not in each call.
        const bool isInnerKnown =
            WeightValues(program_).hasAlone(nested_.inner.reductions[0].element);
        const double before = termsOf(nested_.outer) + (isInnerKnown ? 0 : termsOf(nested_.inner));
        Computation result = nested_.outer;
        result.reduced = nested_.inner.reduced;
        if (joins ? !joinKernels(result) : !sumFactors(result))
            return std::nullopt;
        const auto offset = summedOffset();
        if (!offset)
            return std::nullopt;
        const analysis::ScalarKind type = nested_.inner.reductions[0].type;
        const Scalar terms = raise::call(type, Function::Multiply, nested_.factors);
        result.reductions = {{raise::Reducer::Sum, terms, type}};
        const Scalar total = raise::applied({nested_.scale, *offset}, raise::accumulated(type, 0));
        for (raise::Store& store : result.stores)
            store.value = raise::replaced(store.value, [&](const ScalarNode& node) -> Scalar {
                return node.kind == ScalarNode::Kind::Accumulated ? total : nullptr;
            });
        raise::addSources(result, nested_.inner);
        work_ += termsOf(result);
        program_.steps[step_] = std::move(result);
        return isSmall_ && work_ * 2 <= before ? std::optional(std::move(program_)) : std::nullopt;
    }

private:
    bool sumFactors(Computation& result) {
        for (std::size_t i = 0; i < 2; ++i)
            if (standsInFactor(nested_.scale, i)) {
                nested_.factors[i] = raise::timesOrOne(nested_.factors[i], nested_.scale);
                nested_.scale = nullptr;
            }
        for (std::size_t i = 0; i < 2; ++i)
            if (!nested_.own[i].empty() && !sumLoads(i))
                sumFactor(i, nested_.own[i]);
        sumWeights(result);
        return true;
    }

    /// Joins each axis with one of the kernel, of whose weights it takes sums.
    bool joinKernels(Computation& result) {
        const std::size_t input = nested_.own[0].empty() ? 1 : 0;
        const std::size_t weight = 1 - input;
        const auto guarded = guardedLoad(nested_.factors[input]);
        if (!guarded || !nested_.own[weight].empty() || standsInFactor(nested_.scale, input) ||
            !WeightValues(program_).hasAlone(nested_.factors[weight]))
            return false;
        GuardedLoad read = *guarded;
        GuardedLoad weights;
        std::vector<Axis> kernels;
        std::vector<Axis> wide;
        std::vector<Axis> others = result.reduced;
        for (const Axis& window : nested_.own[input]) {
            auto joined = joinedKernel(read, window, others, program_);
            if (!joined)
                return false;
            read = std::move(joined->input);
            weights.conditions.push_back(joined->condition);
            kernels.push_back(joined->kernel);
            wide.push_back(joined->wide);
            std::erase_if(others, [&](const Axis& axis) { return axis.id == joined->kernel.id; });
        }
        weights.load = nested_.factors[weight];
        const Scalar summed = withDecidedGuards(valueOf(weights));
        std::vector<Axis> axes = axesIn(summed, axesWithout(kernels));
        axes.insert(axes.end(), wide.begin(), wide.end());
        nested_.factors[weight] = add(summed, axes, kernels);
        nested_.factors[input] = withDecidedGuards(valueOf(read));
        result.reduced = others;
        result.reduced.insert(result.reduced.end(), wide.begin(), wide.end());
        return true;
    }

    [[nodiscard]] bool standsInFactor(const Scalar& scale, std::size_t factor) const {
        return std::ranges::any_of(nested_.own[factor],
                                   [&](const Axis& axis) { return standsIn(scale, axis); });
    }

    /// All axes that can stand in factors, without `reduced`.
    [[nodiscard]] std::vector<Axis> axesWithout(const std::vector<Axis>& reduced) const {
        std::vector<Axis> all = nested_.outer.axes;
        all.insert(all.end(), nested_.outer.reduced.begin(), nested_.outer.reduced.end());
        all.insert(all.end(), nested_.inner.reduced.begin(), nested_.inner.reduced.end());
        std::erase_if(all, [&](const Axis& axis) {
            return std::ranges::find(reduced, axis.id, &Axis::id) != reduced.end();
        });
        return all;
    }

    /// Adds the sum before the outer one.
    Scalar add(const Scalar& value, const std::vector<Axis>& axes, const std::vector<Axis>& reduced,
               const std::vector<Axis>& unrolled = {}) {
        const WeightValues values(program_);
        if (!values.hasAlone(value)) {
            const double elements =
                raise::estimatedElements(axes) * raise::estimatedElements(unrolled);
            work_ += elements * raise::estimatedElements(reduced);
            double read = 0;
            raise::forEachRead(value, [&](raise::BufferId buffer, bool) {
                read = std::max(read, raise::estimatedElements(program_.buffers[buffer].shape));
            });
            isSmall_ = isSmall_ && elements <= read;
        }
        return computedBefore(
            program_, step_++,
            {nested_.inner.name + "_sum", nested_.inner.sources, value, axes, unrolled, reduced});
    }

    static bool areFewOfOneLoad(const std::vector<Axis>& axes, const Scalar& load) {
        constexpr double most = 9;
        return raise::estimatedElements(axes) <= most &&
               std::ranges::all_of(axes, [&](const Axis& axis) {
                   return axis.extent->constant() && !raise::mentions(load, axis.id);
               });
    }

    /// The sum of a factor that is a load, over the elements of what it loads; false if it is none.
    bool sumLoads(std::size_t factor) {
        Scalar value = nested_.factors[factor];
        std::vector<Axis> reduced;
        for (const Axis& axis : nested_.own[factor])
            if (auto changed = overLoaded(value, axis, program_)) {
                value = changed->value;
                reduced.insert(reduced.end(), changed->reduced.begin(), changed->reduced.end());
            } else {
                reduced.push_back(axis);
            }
        const auto guarded = guardedLoad(value);
        if (!guarded)
            return false;
        const auto runs = [&](const auto& part) {
            return std::ranges::any_of(reduced,
                                       [&](const Axis& axis) { return mentions(part, axis.id); });
        };
        GuardedLoad outside;
        GuardedLoad inside;
        for (const Scalar& condition : guarded->conditions)
            (runs(condition) ? inside : outside).conditions.push_back(condition);
        // If the place does not depend on the summed axes, each place is summed once for all.
        std::vector<Axis> axes;
        std::vector<Index> at;
        std::vector<Index> position = guarded->load->position;
        for (std::size_t i = 0; i < position.size(); ++i) {
            const bool isSummed = std::ranges::any_of(
                reduced, [&](const Axis& axis) { return position[i].mentions(axis.id); });
            if (isSummed || position[i].constant())
                continue;
            const Index extent = program_.buffers[guarded->load->buffer].shape[i];
            axes.push_back(
                {program_.axes++, fmt::format("i{}", i), std::make_shared<const Index>(extent)});
            at.push_back(position[i]);
            position[i] = Index::of(axes.back());
        }
        inside.load = raise::load(guarded->load->type, guarded->load->buffer, position);
        const Scalar summed = valueOf(inside);
        // The others, such as those of a kernel, are done in one pass if they are few, and if a
        // thread can do it: what blocks reduce has one result each.
        const std::vector<Axis> others = axesIn(summed, axesWithout(reduced));
        for (const Axis& axis : others)
            at.push_back(Index::of(axis));
        constexpr double most = 1024;
        Scalar sum;
        if (areFewOfOneLoad(others, inside.load) && raise::estimatedElements(reduced) <= most) {
            sum = add(summed, axes, reduced, others);
        } else {
            axes.insert(axes.end(), others.begin(), others.end());
            sum = add(summed, axes, reduced);
        }
        outside.load = raise::load(sum->type, sum->buffer, at);
        nested_.factors[factor] = valueOf(outside);
        return true;
    }

    void sumFactor(std::size_t factor, const std::vector<Axis>& reduced) {
        const Scalar value = nested_.factors[factor];
        nested_.factors[factor] = add(value, axesIn(value, axesWithout(reduced)), reduced);
    }

    /// Sums weights over inner axes that stand in them alone.
    void sumWeights(Computation& result) {
        const WeightValues values(program_);
        for (std::size_t i = 0; i < 2; ++i) {
            std::vector<Axis> reduced;
            std::vector<Axis> others;
            for (const Axis& axis : result.reduced)
                if (!Index::of(axis).isZero())
                    (standsIn(nested_.factors[1 - i], axis) ? others : reduced).push_back(axis);
            if (reduced.empty() || others.empty() || !values.hasAlone(nested_.factors[i]))
                continue;
            sumFactor(i, reduced);
            result.reduced = others;
            return;
        }
    }

    /// The sum of the offset; nullopt if it takes an extent that is not known.
    std::optional<Scalar> summedOffset() {
        Scalar offset = nested_.offset;
        if (offset == nullptr)
            return offset;
        std::vector<Axis> reduced;
        double times = 1;
        for (const Axis& axis : nested_.outer.reduced) {
            if (standsIn(offset, axis)) {
                reduced.push_back(axis);
                continue;
            }
            const auto extent = axis.extent->constant();
            if (!extent)
                return std::nullopt;
            times *= static_cast<double>(*extent);
        }
        if (!reduced.empty())
            offset = add(offset, axesIn(offset, axesWithout(reduced)), reduced);
        return raise::timesOrOne(offset, times == 1 ? nullptr : raise::number(offset->type, times));
    }

    raise::Program program_;
    std::size_t step_;
    NestedSum nested_;
    double work_ = 0;     ///< Terms of all new sums.
    bool isSmall_ = true; ///< No new buffer is larger than what it is made of.
};

std::string nameOf(const NestedSum& nested, const WeightValues& values) {
    // Axes that stand in weights: the sum is one of the weights.
    for (std::size_t i = 0; i < 2; ++i)
        if (!nested.own[i].empty() && values.hasAlone(nested.factors[i]))
            return nested.scale != nullptr && formOf(nested.outer) == raise::Form::Contraction
                       ? "linear-after-linear"
                       : "sum-over-linear";
    return "mean-of-convolution";
}

/// Tries one pair of sums; true if it changed the program.
bool swapOnce(raise::Program& program, const IsUsed& isUsed, Done& done) {
    const raise::Uses uses(program);
    for (std::size_t step = 0; step < program.steps.size(); ++step) {
        const auto* outer = std::get_if<Computation>(&program.steps[step]);
        if (outer == nullptr || !isSum(*outer))
            continue;
        for (const raise::BufferId buffer : uses.readBy(step)) {
            if (!isBetweenSums(program, buffer, uses))
                continue;
            raise::Program next = program;
            auto nested = nestedSum(next, step, buffer, uses);
            if (!nested)
                continue;
            const std::string name = nameOf(*nested, WeightValues(program));
            const std::string inner = nested->inner.name;
            auto changed = isUsed(name) ? Swapping(next, step, *nested).run(false) : std::nullopt;
            const bool joins = !changed && isUsed("pool-into-convolution");
            if (joins)
                changed = Swapping(std::move(next), step, *std::move(nested)).run(true);
            if (!changed)
                continue;
            done.push_back(
                {joins ? "pool-into-convolution" : name, outer->sources,
                 fmt::format("{} adds up results of {}: {}", outer->name, inner,
                             joins ? "it is part of a wider kernel of summed weights"
                                   : "what belongs to one factor is summed before the product"),
                 "between the two sums, numbers are only multiplied by and added to what is the "
                 "same for all terms, and nothing else reads them",
                 true, true});
            program = *std::move(changed);
            return true;
        }
    }
    return false;
}

} // namespace

Done swapSums(raise::Program& program, const IsUsed& isUsed) {
    Done done;
    while (swapOnce(program, isUsed, done))
        continue;
    return done;
}

} // namespace kernelskill::engine::graph
