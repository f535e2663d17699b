#include "analysis/raise/affine.h"
#include "analysis/raise/cost.h"
#include "analysis/raise/inverse.h"
#include "analysis/raise/rewrite.h"
#include "analysis/raise/sources.h"
#include "analysis/raise/uses.h"
#include "engine/graph/simplify/guarded_sum.h"
#include "engine/graph/simplify/rules.h"
#include "engine/graph/simplify/weight_values.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
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

/// A sum over products that another sum adds up:
/// sum over r of (scale * (sum over k of left * right) + offset), all over the outer sum's axes.
struct NestedSum {
    raise::BufferId between = 0; ///< What the inner sum writes, for the outer one alone.
    Computation outer;
    Computation inner;
    std::vector<Scalar> factors;
    Scalar scale;
    Scalar offset;
    std::vector<std::vector<Axis>> own; ///< The axes r that stand in each factor alone.
};

bool standsIn(const Scalar& value, const Axis& axis) {
    return value != nullptr && raise::mentions(value, axis.id);
}

bool isSum(const Computation& computation) {
    return computation.reductions.size() == 1 && !computation.scanned &&
           computation.reductions[0].reducer == raise::Reducer::Sum &&
           raise::isFloating(computation.reductions[0].type);
}

/// The one load of the buffer in the sum's terms; null if the buffer is read elsewhere too.
Scalar onlyLoad(const Computation& outer, raise::BufferId buffer) {
    Scalar load;
    for (const Scalar& node : raise::nodesOf(raise::rootsOf(outer)))
        if (node->kind == ScalarNode::Kind::Load && node->buffer == buffer) {
            if (load != nullptr)
                return nullptr;
            load = node;
        }
    for (const raise::Store& store : outer.stores)
        raise::forEachRead(store.value, [&](raise::BufferId read, bool) {
            if (read == buffer)
                load = nullptr;
        });
    return load;
}

/// The axes r by the factor that they stand in; false if one stands in both, or in none.
bool divideAxes(NestedSum& nested) {
    nested.own.assign(2, {});
    for (const Axis& axis : nested.outer.reduced) {
        if (Index::of(axis).isZero())
            continue;
        const bool inLeft = standsIn(nested.factors[0], axis);
        const bool inRight = standsIn(nested.factors[1], axis);
        if (inLeft == inRight)
            return false;
        nested.own[inRight ? 1 : 0].push_back(axis);
    }
    // A scale goes with one of the factors.
    const auto runsOver = [&](const std::vector<Axis>& axes) {
        return std::ranges::any_of(axes,
                                   [&](const Axis& axis) { return standsIn(nested.scale, axis); });
    };
    return (!nested.own[0].empty() || !nested.own[1].empty()) &&
           !(runsOver(nested.own[0]) && runsOver(nested.own[1]));
}

std::optional<NestedSum> nestedSum(raise::Program& program, std::size_t step,
                                   raise::BufferId buffer, const raise::Uses& uses) {
    const auto place = uses.writer(buffer);
    if (program.buffers[buffer].role != raise::Buffer::Role::Local || !place ||
        uses.readers(buffer).size() != 1 || !uses.isReadPlainly(buffer))
        return std::nullopt;
    NestedSum nested{buffer,
                     std::get<Computation>(program.steps[step]),
                     std::get<Computation>(program.steps[place->step]),
                     {},
                     {},
                     {},
                     {}};
    if (!isSum(nested.inner) || raise::formOf(nested.inner) != raise::Form::Contraction ||
        nested.inner.stores.size() != 1)
        return std::nullopt;
    raise::Interner interner;
    interner.intern(nested.outer);
    interner.intern(nested.inner);
    const Scalar load = onlyLoad(nested.outer, buffer);
    const raise::Store& store = nested.inner.stores[0];
    const Scalar sum = interner(raise::accumulated(nested.inner.reductions[0].type, 0));
    const auto outside = load == nullptr
                             ? std::nullopt
                             : raise::affineIn(nested.outer.reductions[0].element, load.get());
    const auto inside = raise::affineIn(store.value, sum.get());
    if (!outside || !inside)
        return std::nullopt;
    const std::vector<Axis> components =
        raise::newAxes(program, program.buffers[buffer].shape, "p");
    const raise::Inverse inverse = raise::inverseOf(store.position, nested.inner.axes, components);
    if (!inverse.isWhole)
        return std::nullopt;
    std::map<std::uint32_t, Index> read;
    for (std::size_t i = 0; i < components.size(); ++i)
        read.emplace(components[i].id, load->position[i]);
    std::map<std::uint32_t, Index> places;
    for (const auto& [axis, index] : inverse.axes)
        places.emplace(axis, raise::joined(index.substituted(read)));
    const auto moved = [&](const Scalar& value) {
        return value == nullptr ? value : raise::relocated(value, places);
    };
    for (const Scalar& factor : nested.inner.reductions[0].element->arguments)
        nested.factors.push_back(moved(factor));
    nested.scale = raise::timesOrOne(outside->scale, moved(inside->scale));
    nested.offset = outside->offset;
    if (inside->offset != nullptr)
        nested.offset = raise::plusOrZero(nested.offset,
                                          raise::timesOrOne(outside->scale, moved(inside->offset)));
    return divideAxes(nested) ? std::optional(std::move(nested)) : std::nullopt;
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

    /// The program, if that is less work.
    std::optional<raise::Program> run() {
        const double before = termsOf(nested_.outer) + termsOf(nested_.inner);
        Computation result = nested_.outer;
        result.reduced = nested_.inner.reduced;
        for (std::size_t i = 0; i < 2; ++i)
            if (standsInFactor(nested_.scale, i)) {
                nested_.factors[i] = raise::timesOrOne(nested_.factors[i], nested_.scale);
                nested_.scale = nullptr;
            }
        for (std::size_t i = 0; i < 2; ++i)
            if (!nested_.own[i].empty() && !sumLoads(i))
                sumFactor(i, nested_.own[i]);
        sumWeights(result);
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
        // Where the summed axes do not say the place, any place is summed once for all.
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
            raise::Program next = program;
            auto nested = nestedSum(next, step, buffer, uses);
            if (!nested)
                continue;
            const std::string name = nameOf(*nested, WeightValues(program));
            const std::string inner = nested->inner.name;
            if (!isUsed(name))
                continue;
            if (auto changed = Swapping(std::move(next), step, *std::move(nested)).run()) {
                Simplification one{
                    name,
                    outer->sources,
                    fmt::format("{} adds up results of {}: what belongs to one factor is summed "
                                "before the product",
                                outer->name, inner),
                    "between the two sums, numbers are only multiplied by and added to what is the "
                    "same for all terms, and nothing else reads them",
                    true,
                    true};
                done.push_back(std::move(one));
                program = *std::move(changed);
                return true;
            }
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
