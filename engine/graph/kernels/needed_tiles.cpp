#include "engine/graph/kernels/needed_tiles.h"

#include <cstdint>
#include <map>
#include <string>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::Function;
using analysis::raise::Index;
using analysis::raise::Scalar;
using analysis::raise::ScalarNode;
using analysis::raise::Store;

bool readsSum(const Scalar& value) {
    bool isRead = false;
    forEachNode(value, [&](const ScalarNode& node) {
        isRead = isRead || node.kind == ScalarNode::Kind::Accumulated;
    });
    return isRead;
}

/// An index that is at most 0 exactly where the condition has the truth value `holds`. nullopt if
/// the condition does not compare two indices.
std::optional<Index> excessOf(const Scalar& condition, bool holds) {
    const bool isStrict = condition->function == Function::Less;
    if (condition->kind != ScalarNode::Kind::Call ||
        (!isStrict && condition->function != Function::LessOrEqual))
        return std::nullopt;
    const Scalar& left = condition->arguments[0];
    const Scalar& right = condition->arguments[1];
    if (left->kind != ScalarNode::Kind::Position || right->kind != ScalarNode::Kind::Position ||
        left->index.readsData() || right->index.readsData())
        return std::nullopt;
    const Index difference = left->index - right->index;
    if (holds)
        return isStrict ? difference + 1 : difference;
    return isStrict ? Index(0) - difference : Index(1) - difference;
}

class Conditions {
public:
    Conditions(const Contraction& contraction, const ContractionTile& tile)
        : contraction_(contraction), tile_(tile) {}

    std::optional<std::vector<Index>> run() {
        if (contraction_.rows.size() != 1 || contraction_.columns.size() != 1)
            return std::nullopt;
        for (const Store& store : contraction_.computation.stores)
            if (!collect(store.value))
                return std::nullopt;
        return found_.empty() ? std::nullopt : std::optional(std::move(found_));
    }

private:
    /// Collects the conditions under which the value depends on the sum. Returns false if it may
    /// depend on the sum everywhere.
    bool collect(const Scalar& value) {
        if (!readsSum(value))
            return true;
        if (value->kind == ScalarNode::Kind::Accumulated)
            return false;
        if (value->kind == ScalarNode::Kind::Select && !readsSum(value->arguments[0])) {
            const bool isThen = readsSum(value->arguments[1]);
            if (isThen != readsSum(value->arguments[2])) {
                const auto excess = excessOf(value->arguments[0], isThen);
                const auto least = excess ? leastInTile(*excess) : std::nullopt;
                if (least) {
                    found_.push_back(*least);
                    return true;
                }
            }
        }
        for (const Scalar& argument : value->arguments)
            if (!collect(argument))
                return false;
        return true;
    }

    /// The smallest value of the index within the tile; nullopt if the index is not affine in the
    /// row and the column.
    std::optional<Index> leastInTile(const Index& index) const {
        std::map<std::uint32_t, Index> corner;
        const auto add = [&](const Axis& axis, const std::string& first, int extent) {
            const auto stride = strideOf(index, axis);
            if (!stride)
                return false;
            corner[axis.id] = Index::size(first) + (*stride < 0 ? extent - 1 : 0);
            return true;
        };
        if (!add(contraction_.rows[0], "firstRow", tile_.rows) ||
            !add(contraction_.columns[0], "firstColumn", tile_.columns))
            return std::nullopt;
        return index.substituted(corner);
    }

    const Contraction& contraction_;
    const ContractionTile& tile_;
    std::vector<Index> found_;
};

} // namespace

std::optional<std::vector<Index>> neededTiles(const Contraction& contraction,
                                              const ContractionTile& tile) {
    return Conditions(contraction, tile).run();
}

} // namespace kernelskill::engine::graph
