#include "analysis/raise/live_steps.h"
#include "analysis/raise/rewrite.h"
#include "analysis/raise/sources.h"
#include "analysis/raise/uses.h"
#include "engine/graph/simplify/rules.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
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

/// Rows of fewer elements are held on the chip, and read once as they are.
constexpr double fewestElements = 32768;

using Places = std::map<std::uint32_t, Index>;

/// The places of `others` by `axes`; nullopt if their extents differ.
std::optional<Places> matched(const Computation& own, const Computation& other) {
    if (own.axes.size() != other.axes.size() || own.reduced.size() != other.reduced.size())
        return std::nullopt;
    Places places;
    const auto match = [&](const std::vector<Axis>& axes, const std::vector<Axis>& others) {
        for (std::size_t i = 0; i < axes.size(); ++i) {
            if (!(*axes[i].extent == *others[i].extent))
                return false;
            places.emplace(others[i].id, Index::of(axes[i]));
        }
        return true;
    };
    return match(own.axes, other.axes) && match(own.reduced, other.reduced)
               ? std::optional(std::move(places))
               : std::nullopt;
}

/// The number of elements that are reduced, if it is known, and none are empty.
std::optional<double> countOf(const Computation& computation) {
    double count = 1;
    for (const Axis& axis : computation.reduced) {
        const auto extent = axis.extent->constant();
        if (!extent || *extent < 1)
            return std::nullopt;
        count *= static_cast<double>(*extent);
    }
    return count;
}

bool isSumOf(const raise::Reduction& reduction) {
    return reduction.reducer == raise::Reducer::Sum && raise::isFloating(reduction.type);
}

/// A sum of squares of distances from a mean that another computation forms.
struct Variance {
    std::size_t mean = 0; ///< The steps.
    std::size_t squares = 0;
    std::size_t sum = 0; ///< The number of the mean's reduction.
    Places places;       ///< An index for each axis of `squares`.
    double count = 0;
};

class Shifting {
public:
    explicit Shifting(raise::Program& program) : program_(program) { interner_.intern(program_); }

    Done run() {
        Done done;
        while (const auto variance = find()) {
            done.push_back(said(*variance));
            merge(*variance);
            program_ = raise::inOrderOfNeeds(std::move(program_));
        }
        return done;
    }

private:
    std::optional<Variance> find() {
        const raise::Uses uses(program_);
        for (std::size_t step = 0; step < program_.steps.size(); ++step) {
            const auto* squares = std::get_if<Computation>(&program_.steps[step]);
            if (squares == nullptr || squares->scanned || squares->reductions.size() != 1 ||
                !isSumOf(squares->reductions[0]))
                continue;
            for (const raise::BufferId buffer : uses.readBy(step))
                if (const auto place = uses.writer(buffer))
                    if (auto variance = varianceOf(step, *place, buffer, uses))
                        return variance;
        }
        return std::nullopt;
    }

    std::optional<Variance> varianceOf(std::size_t step, raise::StorePlace place,
                                       raise::BufferId buffer, const raise::Uses& uses) {
        const auto& squares = std::get<Computation>(program_.steps[step]);
        const auto& mean = std::get<Computation>(program_.steps[place.step]);
        const auto places = matched(mean, squares);
        const auto count = countOf(mean);
        if (mean.scanned || !places || !count || *count < fewestElements)
            return std::nullopt;
        // Nothing else that the squares read waits for the mean.
        for (const raise::BufferId other : uses.readBy(step))
            if (other != buffer && uses.bufferDepends(other, place.step))
                return std::nullopt;
        const Scalar square = interner_(raise::relocated(squares.reductions[0].element, *places));
        if (!isCall(square, Function::Multiply) || square->arguments[0] != square->arguments[1] ||
            !isCall(square->arguments[0], Function::Subtract))
            return std::nullopt;
        const Scalar& element = square->arguments[0]->arguments[0];
        const raise::Store& stored = mean.stores[place.store];
        const Scalar subtracted = interner_(raise::replaced(
            square->arguments[0]->arguments[1], [&](const ScalarNode& node) -> Scalar {
                return node.kind == ScalarNode::Kind::Load && node.buffer == buffer &&
                               raise::samePosition(node.position, stored.position)
                           ? stored.value
                           : nullptr;
            }));
        if (!isCall(subtracted, Function::Divide) ||
            subtracted->arguments[0]->kind != ScalarNode::Kind::Accumulated ||
            raise::numberOf(subtracted->arguments[1]) != *count)
            return std::nullopt;
        const std::size_t sum = subtracted->arguments[0]->reduction;
        if (!isSumOf(mean.reductions[sum]) || mean.reductions[sum].element != element ||
            element->type != square->type)
            return std::nullopt;
        return Variance{place.step, step, sum, *places, *count};
    }

    [[nodiscard]] Simplification said(const Variance& variance) const {
        const auto& squares = std::get<Computation>(program_.steps[variance.squares]);
        Computation both = std::get<Computation>(program_.steps[variance.mean]);
        raise::addSources(both, squares);
        return {"shifted-variance",
                both.sources,
                fmt::format("{} and {} are one pass: sums of what differs from the first element, "
                            "and of its square",
                            both.name, squares.name),
                "the squares are of distances from the mean of the same elements, which are too "
                "many to be held on the chip",
                true,
                true};
    }

    void merge(const Variance& variance) {
        const auto& squares = std::get<Computation>(program_.steps[variance.squares]);
        Computation both = std::get<Computation>(program_.steps[variance.mean]);
        raise::Reduction& sum = both.reductions[variance.sum];
        const analysis::ScalarKind type = sum.type;
        const auto made = [&](Function function, const Scalar& left, const Scalar& right) {
            return raise::call(type, function, {left, right});
        };
        Places first;
        for (const Axis& axis : both.reduced)
            first.emplace(axis.id, 0);
        const Scalar shift = raise::converted(raise::relocated(sum.element, first), type);
        const Scalar count = raise::number(type, variance.count);
        const Scalar shifted = raise::accumulated(type, variance.sum);
        // The mean is the shift and the mean of what differs from it.
        const Scalar mean = made(Function::Add, shift, made(Function::Divide, shifted, count));
        for (raise::Store& store : both.stores)
            store.value =
                withMean(store.value, variance, mean,
                         made(Function::Add, shifted, made(Function::Multiply, shift, count)));
        const Scalar distance = raise::call(sum.element->type, Function::Subtract,
                                            {sum.element, raise::relocated(sum.element, first)});
        sum.element = distance;
        const Scalar around =
            made(Function::Subtract, raise::accumulated(type, both.reductions.size()),
                 made(Function::Divide, made(Function::Multiply, shifted, shifted), count));
        const Scalar total = made(Function::Maximum, around, raise::number(type, 0));
        both.reductions.push_back(
            {raise::Reducer::Sum,
             raise::call(distance->type, Function::Multiply, {distance, distance}), type});
        for (const raise::Store& store : squares.stores)
            both.stores.push_back({store.buffer, raise::relocated(store.position, variance.places),
                                   raise::replaced(raise::relocated(store.value, variance.places),
                                                   [&](const ScalarNode& node) -> Scalar {
                                                       return node.kind ==
                                                                      ScalarNode::Kind::Accumulated
                                                                  ? total
                                                                  : nullptr;
                                                   })});
        raise::addSources(both, squares);
        interner_.intern(both);
        program_.steps[variance.mean] = std::move(both);
        program_.steps.erase(program_.steps.begin() +
                             static_cast<std::ptrdiff_t>(variance.squares));
    }

    /// The value with other nodes for the mean, and for the sum elsewhere.
    Scalar withMean(const Scalar& value, const Variance& variance, const Scalar& mean,
                    const Scalar& sum) const {
        raise::NodeReplacements replacements;
        const auto isSum = [&](const Scalar& node) {
            return node->kind == ScalarNode::Kind::Accumulated && node->reduction == variance.sum;
        };
        for (const Scalar& node : raise::nodesOf({value})) {
            if (isSum(node))
                replacements.emplace(node.get(), sum);
            if (isCall(node, Function::Divide) && isSum(node->arguments[0]) &&
                raise::numberOf(node->arguments[1]) == variance.count)
                replacements.emplace(node.get(), mean);
        }
        return raise::withNodes(value, replacements);
    }

    raise::Program& program_;
    raise::Interner interner_;
};

} // namespace

Done shiftVariances(raise::Program& program, const IsUsed& isUsed) {
    return isUsed("shifted-variance") ? Shifting(program).run() : Done{};
}

} // namespace kernelskill::engine::graph
