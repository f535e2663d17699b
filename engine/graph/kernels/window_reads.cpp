#include "engine/graph/kernels/window_reads.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::Computation;
using analysis::raise::Index;
using analysis::raise::Reduction;
using analysis::raise::Scalar;
using analysis::raise::ScalarNode;

constexpr std::size_t mostAxes = 3;

/// Returns the factor of the axis in the index; nullopt if it stands in a product or a quotient.
std::optional<std::int64_t> factorOf(const Index& index, const Axis& axis) {
    if (!index.mentions(axis.id))
        return 0;
    const Index part = index - index.substituted({{axis.id, Index(0)}});
    if (part.terms().size() != 1)
        return std::nullopt;
    const Index::Monomial& term = part.terms().begin()->second;
    if (term.atoms.size() != 1 || term.atoms[0]->kind != Index::Atom::Kind::Axis)
        return std::nullopt;
    return term.factor;
}

class Finder {
public:
    Finder(const Computation& computation, std::uint32_t& axes)
        : computation_(computation), numbered_(axes) {}

    std::optional<WindowReads> run() {
        if (computation_.scanned || computation_.reductions.empty() || computation_.axes.empty() ||
            !areConstant(computation_.axes) || !areConstant(computation_.reduced))
            return std::nullopt;
        for (const Reduction& reduction : computation_.reductions) {
            if (findsPlace(reduction.reducer))
                return std::nullopt;
            forEachNode(reduction.element, [&](const ScalarNode& node) { pairAxes(node); });
        }
        if (isAmbiguous_ || pairs_.size() != computation_.reduced.size())
            return std::nullopt;
        nameAxes();
        if (found_.axes.size() > mostAxes)
            return std::nullopt;
        for (const Reduction& reduction : computation_.reductions)
            collect(reduction.element);
        if (found_.reads.empty())
            return std::nullopt;
        return std::move(found_);
    }

private:
    struct Pair {
        std::uint32_t results = 0;
        std::int64_t stride = 1;
        std::int64_t dilation = 1;
        bool operator==(const Pair&) const = default;
    };

    static bool areConstant(const std::vector<Axis>& axes) {
        return std::ranges::all_of(
            axes, [](const Axis& axis) { return axis.extent->constant().value_or(0) > 0; });
    }

    /// Notes which axis of the results each axis of the window goes with in a load's position.
    void pairAxes(const ScalarNode& node) {
        if (node.kind != ScalarNode::Kind::Load)
            return;
        for (const Index& at : node.position) {
            const auto mentioned = [&](const std::vector<Axis>& axes) {
                std::vector<const Axis*> found;
                for (const Axis& axis : axes)
                    if (at.mentions(axis.id))
                        found.push_back(&axis);
                return found;
            };
            const auto results = mentioned(computation_.axes);
            const auto window = mentioned(computation_.reduced);
            if (results.size() != 1 || window.size() != 1)
                continue;
            const auto stride = factorOf(at, *results[0]);
            const auto dilation = factorOf(at, *window[0]);
            if (!stride || !dilation || *stride <= 0 || *dilation <= 0)
                continue;
            const std::int64_t both = std::gcd(*stride, *dilation);
            const Pair pair{results[0]->id, *stride / both, *dilation / both};
            isAmbiguous_ |= pairs_.try_emplace(window[0]->id, pair).first->second != pair;
            isAmbiguous_ |=
                windowOf_.try_emplace(pair.results, window[0]->id).first->second != window[0]->id;
        }
    }

    void nameAxes() {
        for (const Axis& axis : computation_.axes) {
            const auto window = windowOf_.find(axis.id);
            if (window == windowOf_.end() && axis.id != computation_.axes.back().id)
                continue;
            WindowAxis& named = found_.axes.emplace_back();
            named.results = axis;
            std::int64_t reach = *axis.extent->constant();
            if (window != windowOf_.end()) {
                const Pair& pair = pairs_.at(window->second);
                named.window = *std::ranges::find(computation_.reduced, window->second, &Axis::id);
                named.stride = pair.stride;
                named.dilation = pair.dilation;
                reach = pair.stride * (reach - 1) +
                        pair.dilation * (*named.window->extent->constant() - 1) + 1;
            }
            named.places = {numbered_++, "place_" + axis.name,
                            std::make_shared<const Index>(reach)};
        }
    }

    void collect(const Scalar& value) {
        if (isOfPlaces(value) && readsWindows(value)) {
            if (std::ranges::find(found_.reads, value, &WindowRead::element) == found_.reads.end())
                found_.reads.push_back({value, overPlaces(value)});
            return;
        }
        // A load must not leave the branch whose condition guards it.
        const std::size_t taken =
            value->kind == ScalarNode::Kind::Select ? 1 : value->arguments.size();
        for (std::size_t i = 0; i < taken; ++i)
            collect(value->arguments[i]);
    }

    bool readsWindows(const Scalar& value) const {
        bool reads = false;
        forEachNode(value, [&](const ScalarNode& node) {
            reads |= node.kind == ScalarNode::Kind::Load &&
                     std::ranges::any_of(computation_.reduced, [&](const Axis& axis) {
                         return std::ranges::any_of(
                             node.position, [&](const Index& at) { return at.mentions(axis.id); });
                     });
        });
        return reads;
    }

    bool isOfPlaces(const Scalar& value) const {
        bool holds = true;
        forEachNode(value, [&](const ScalarNode& node) {
            holds &=
                node.kind != ScalarNode::Kind::Accumulated && isOfPlaces(node.index) &&
                std::ranges::all_of(node.position, [&](const Index& at) { return isOfPlaces(at); });
        });
        return holds;
    }

    bool isOfPlaces(const Index& index) const {
        if (index.readsData())
            return false;
        return std::ranges::all_of(found_.axes, [&](const WindowAxis& axis) {
            if (!axis.window)
                return true;
            const auto results = factorOf(index, axis.results);
            const auto window = factorOf(index, *axis.window);
            return results && window && *results * axis.dilation == *window * axis.stride;
        });
    }

    /// Returns the value at result a * place and element b * place of each axis, where
    /// stride * a + dilation * b = 1.
    Scalar overPlaces(const Scalar& value) const {
        std::map<std::uint32_t, Index> at;
        for (const WindowAxis& axis : found_.axes) {
            std::int64_t a = 1;
            if (axis.window && axis.stride > 1) {
                a = 0;
                while ((1 - axis.stride * a) % axis.dilation != 0)
                    ++a;
            }
            const Index place = Index::of(axis.places);
            at[axis.results.id] = place * Index(a);
            if (axis.window)
                at[axis.window->id] = place * Index((1 - axis.stride * a) / axis.dilation);
        }
        return substituted(value, at);
    }

    const Computation& computation_;
    std::uint32_t& numbered_;
    WindowReads found_;
    std::map<std::uint32_t, Pair> pairs_;             ///< By the window's axis.
    std::map<std::uint32_t, std::uint32_t> windowOf_; ///< The window's axis by the results' one.
    bool isAmbiguous_ = false;
};

} // namespace

std::optional<WindowReads> windowReads(const Computation& computation, std::uint32_t& axes) {
    return Finder(computation, axes).run();
}

} // namespace kernelskill::engine::graph
