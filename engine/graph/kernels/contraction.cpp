#include "engine/graph/kernels/contraction.h"

#include "analysis/raise/merged_axes.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::ScalarKind;
using analysis::raise::Axis;
using analysis::raise::Computation;
using analysis::raise::Function;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::Scalar;
using analysis::raise::ScalarNode;
using Factors = std::vector<Scalar>;

/// The factors of a product, those of factors that are products themselves included.
void addFactors(const Scalar& value, Factors& factors) {
    if (value->kind != ScalarNode::Kind::Call || value->function != Function::Multiply) {
        factors.push_back(value);
        return;
    }
    for (const Scalar& argument : value->arguments)
        addFactors(argument, factors);
}

bool isOneProduct(const Scalar& value) {
    return value->kind == ScalarNode::Kind::Call && value->function == Function::Multiply;
}

Scalar productOf(const Factors& factors) {
    Scalar product = factors.front();
    for (std::size_t i = 1; i < factors.size(); ++i)
        product = call(product->type, Function::Multiply, {product, factors[i]});
    return product;
}

bool mentionsAny(const Factors& factors, const Axis& axis) {
    return std::ranges::any_of(factors,
                               [&](const Scalar& factor) { return mentions(factor, axis.id); });
}

/// The two sides of a product, of which either may have several factors.
struct Sides {
    Factors left;
    Factors right;
};

/// How many axes of the result the factors of one side read, and those of the other do not.
std::size_t axesOfOne(const std::vector<Axis>& axes, const Factors& side, const Factors& other) {
    return static_cast<std::size_t>(std::ranges::count_if(axes, [&](const Axis& axis) {
        return mentionsAny(side, axis) && !mentionsAny(other, axis);
    }));
}

/// The partition that leaves the fewest axes to both sides. Products have few factors.
std::optional<Sides> sidesOf(const std::vector<Axis>& axes, const Factors& factors) {
    constexpr std::size_t most = 8;
    if (factors.size() < 2 || factors.size() > most)
        return std::nullopt;
    std::optional<Sides> best;
    std::size_t bestShared = std::numeric_limits<std::size_t>::max();
    for (std::size_t mask = 0; mask < (std::size_t{1} << (factors.size() - 1)); ++mask) {
        Sides sides;
        for (std::size_t i = 0; i < factors.size(); ++i)
            ((mask >> i) % 2 == 1 ? sides.left : sides.right).push_back(factors[i]);
        if (sides.left.empty() || sides.right.empty() ||
            axesOfOne(axes, sides.left, sides.right) == 0 ||
            axesOfOne(axes, sides.right, sides.left) == 0)
            continue;
        const auto shared =
            static_cast<std::size_t>(std::ranges::count_if(axes, [&](const Axis& axis) {
                return mentionsAny(sides.left, axis) && mentionsAny(sides.right, axis);
            }));
        if (shared >= bestShared)
            continue;
        bestShared = shared;
        best = std::move(sides);
    }
    return best;
}

/// The constants by which quotients and remainders in a scalar divide the axis itself.
class Divisors {
public:
    explicit Divisors(const Axis& axis) : axis_(axis) {}

    void add(const Scalar& value) {
        forEachNode(value, [&](const ScalarNode& node) {
            add(node.index);
            for (const Index& at : node.position)
                add(at);
        });
    }
    [[nodiscard]] const std::set<std::int64_t>& all() const { return all_; }

private:
    void add(const Index& index) {
        for (const auto& [key, term] : index.terms())
            for (const Index::AtomRef& atom : term.atoms) {
                if (atom->left == nullptr)
                    continue;
                if (const auto by = atom->right->constant(); by && atom->left->mentions(axis_.id))
                    all_.insert(*by);
                add(*atom->left);
            }
    }

    const Axis& axis_;
    std::set<std::int64_t> all_;
};

bool isReadByAll(const Computation& computation, const Axis& axis) {
    Factors factors;
    addFactors(computation.reductions[0].element, factors);
    return std::ranges::all_of(factors,
                               [&](const Scalar& factor) { return mentions(factor, axis.id); });
}

/// Splits the axes of groups: one that all factors read, of which some read the quotient by a
/// constant alone.
void splitGroups(Computation& computation, std::uint32_t& axes) {
    for (std::size_t at = 0; at < computation.axes.size(); ++at) {
        const Axis axis = computation.axes[at];
        if (!isReadByAll(computation, axis))
            continue;
        Divisors divisors(axis);
        divisors.add(computation.reductions[0].element);
        const auto extent = axis.extent->constant();
        for (const std::int64_t by : divisors.all()) {
            if (!extent || by < 2 || *extent % by != 0 || *extent == by)
                continue;
            const Axis group{axes, axis.name + "_group",
                             std::make_shared<const Index>(*extent / by)};
            const Axis part{axes + 1, axis.name, std::make_shared<const Index>(by)};
            Computation candidate = substituted(
                computation, {{axis.id, Index::of(group) * Index(by) + Index::of(part)}});
            if (isReadByAll(candidate, part))
                continue;
            candidate.axes[at] = group;
            candidate.axes.insert(candidate.axes.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                  part);
            computation = std::move(candidate);
            axes += 2;
            break;
        }
    }
}

const ScalarNode* firstLoad(const Scalar& value) {
    const ScalarNode* found = nullptr;
    forEachNode(value, [&](const ScalarNode& node) {
        if (found == nullptr && node.kind == ScalarNode::Kind::Load)
            found = &node;
    });
    return found;
}

/// Puts the axis whose elements lie closest in memory last.
void orderByStride(const Program& program, const Scalar& factor, std::vector<Axis>& axes) {
    const ScalarNode* load = firstLoad(factor);
    if (load == nullptr)
        return;
    const Index offset = flattened(load->position, program.buffers.at(load->buffer).shape);
    auto closest = axes.end();
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (auto axis = axes.begin(); axis != axes.end(); ++axis) {
        const auto stride = strideOf(offset, *axis);
        if (!stride || *stride <= 0 || *stride >= least)
            continue;
        least = *stride;
        closest = axis;
    }
    if (closest != axes.end())
        std::rotate(closest, closest + 1, axes.end());
}

} // namespace

Index extentOf(const std::vector<Axis>& axes) {
    return elementsOf(analysis::raise::extentsOf(axes));
}

std::optional<std::int64_t> strideOf(const Index& index, const Axis& axis) {
    return (index.substituted({{axis.id, Index::of(axis) + 1}}) - index).constant();
}

std::expected<Contraction, std::string> contractionOf(const Program& program,
                                                      const Computation& computation) {
    if (computation.reductions.size() != 1 || computation.scanned || computation.reduced.empty())
        return std::unexpected("it has not one reduction over axes of its own");
    if (computation.reductions[0].reducer != analysis::raise::Reducer::Sum ||
        computation.reductions[0].type != ScalarKind::Float)
        return std::unexpected("it is no sum of floats");
    if (!isOneProduct(computation.reductions[0].element) ||
        computation.reductions[0].element->type != ScalarKind::Float)
        return std::unexpected("what it sums up is no product of floats");
    std::uint32_t axes = program.axes;
    Contraction result;
    result.computation = withMergedAxes(program, computation, axes);
    splitGroups(result.computation, axes);
    result.axes = axes;
    result.depth = result.computation.reduced;
    Factors factors;
    addFactors(result.computation.reductions[0].element, factors);
    const auto sides = sidesOf(result.computation.axes, factors);
    if (!sides)
        return std::unexpected("each factor needs an axis that the other one does not read");
    for (const Axis& axis : result.computation.axes) {
        const bool isLeft = mentionsAny(sides->left, axis);
        const bool isRight = mentionsAny(sides->right, axis);
        (isLeft == isRight ? result.batches
         : isLeft          ? result.rows
                           : result.columns)
            .push_back(axis);
    }
    constexpr std::int64_t most = std::int64_t{1} << 30; // Their numbers are 32 bits wide.
    for (const auto* axes : {&result.rows, &result.columns, &result.depth})
        if (extentOf(*axes).constant().value_or(0) > most)
            return std::unexpected("it has more than 2^30 rows, columns or elements of the depth");
    result.left = productOf(sides->left);
    result.right = productOf(sides->right);
    orderByStride(program, result.left, result.rows);
    orderByStride(program, result.right, result.columns);
    return result;
}

} // namespace kernelskill::engine::graph
