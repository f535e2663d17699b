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

std::int64_t constantExtent(const Axis& axis) {
    return axis.extent->constant().value_or(0);
}

/// Finds the reads along one axis of the results.
class Finder {
public:
    Finder(const Computation& computation, const Axis& results)
        : computation_(computation), results_(results) {}

    std::optional<WindowReads> run(std::uint32_t& axes) {
        for (const Reduction& reduction : computation_.reductions)
            forEachNode(reduction.element, [&](const ScalarNode& node) { findWindow(node); });
        if (!window_ || isAmbiguous_)
            return std::nullopt;
        const std::int64_t reach = stride_ * (constantExtent(results_) - 1) +
                                   dilation_ * (constantExtent(*window_) - 1) + 1;
        found_.axis = {results_,
                       *window_,
                       stride_,
                       dilation_,
                       {axes++, "place_" + results_.name, std::make_shared<const Index>(reach)}};
        for (const Reduction& reduction : computation_.reductions)
            collect(reduction.element);
        if (found_.reads.empty())
            return std::nullopt;
        return std::move(found_);
    }

private:
    /// Notes which axis of the window goes with that of the results in a load's position.
    void findWindow(const ScalarNode& node) {
        if (node.kind != ScalarNode::Kind::Load)
            return;
        for (const Index& at : node.position) {
            if (!at.mentions(results_.id))
                continue;
            std::vector<const Axis*> mentioned;
            for (const Axis& axis : computation_.reduced)
                if (at.mentions(axis.id))
                    mentioned.push_back(&axis);
            if (mentioned.size() != 1 || constantExtent(*mentioned[0]) == 0)
                continue;
            const auto stride = factorOf(at, results_);
            const auto dilation = factorOf(at, *mentioned[0]);
            if (!stride || !dilation || *stride <= 0 || *dilation <= 0)
                continue;
            const std::int64_t both = std::gcd(*stride, *dilation);
            if (!window_) {
                window_ = *mentioned[0];
                stride_ = *stride / both;
                dilation_ = *dilation / both;
            }
            isAmbiguous_ |= window_->id != mentioned[0]->id || stride_ != *stride / both ||
                            dilation_ != *dilation / both;
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
                     std::ranges::any_of(node.position,
                                         [&](const Index& at) { return at.mentions(window_->id); });
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
        const auto results = factorOf(index, results_);
        const auto window = factorOf(index, *window_);
        return results && window && *results * dilation_ == *window * stride_;
    }

    /// Returns the value at result a * place and element b * place, where
    /// stride * a + dilation * b = 1.
    Scalar overPlaces(const Scalar& value) const {
        std::int64_t a = stride_ == 1 ? 1 : 0;
        while ((1 - stride_ * a) % dilation_ != 0)
            ++a;
        const Index place = Index::of(found_.axis.places);
        return substituted(value, {{results_.id, place * Index(a)},
                                   {window_->id, place * Index((1 - stride_ * a) / dilation_)}});
    }

    const Computation& computation_;
    const Axis& results_;
    WindowReads found_;
    std::optional<Axis> window_;
    std::int64_t stride_ = 1;
    std::int64_t dilation_ = 1;
    bool isAmbiguous_ = false; ///< Loads disagree.
};

} // namespace

std::vector<WindowReads> windowReads(const Computation& computation, std::uint32_t& axes) {
    std::vector<WindowReads> found;
    if (computation.scanned || std::ranges::any_of(computation.reductions, [](const auto& each) {
            return findsPlace(each.reducer);
        }))
        return found;
    for (const Axis& axis : computation.axes)
        if (constantExtent(axis) > 0)
            if (auto reads = Finder(computation, axis).run(axes))
                found.push_back(*std::move(reads));
    return found;
}

} // namespace kernelskill::engine::graph
