#include "engine/graph/kernels/contraction_split.h"

#include "analysis/raise/merged_axes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::Buffer;
using analysis::raise::BufferId;
using analysis::raise::Computation;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::Step;

/// The axis of the depth that is divided, and into how many parts.
struct DepthParts {
    std::size_t axis = 0;
    std::int64_t count = 1;
};

std::optional<DepthParts> partsOf(const Contraction& contraction, const KernelOptions& options) {
    constexpr std::int64_t multiprocessors = 132;
    constexpr std::int64_t leastDepth =
        256; ///< The min depth of a part: fewer products are not worth a store.
    const ContractionTile tile = tileFor(contraction, options);
    const std::int64_t blocks = blocksOf(contraction, tile);
    const auto depth = extentOf(contraction.depth).constant();
    const auto results = extentOf(contraction.computation.axes).constant();
    const std::int64_t wanted = multiprocessors * tile.blocks / std::max<std::int64_t>(blocks, 1);
    if (!depth || !results || blocks >= multiprocessors || wanted < 2)
        return std::nullopt;
    // Parts of one size need no guard; longer axes keep the tiles of a part whole.
    std::optional<DepthParts> best;
    for (std::size_t i = 0; i < contraction.depth.size(); ++i) {
        const std::int64_t extent = *contraction.depth[i].extent->constant();
        for (std::int64_t count = std::min(wanted, extent); count >= 2; --count) {
            const std::int64_t size = extent / count;
            if (extent % count != 0 || *depth / count < leastDepth || size % 4 != 0)
                continue;
            if (!best || count > best->count)
                best = DepthParts{i, count};
            break;
        }
    }
    return best;
}

class ContractionSplitting {
public:
    ContractionSplitting(Program program, const KernelOptions& options)
        : program_(std::move(program)), options_(options) {}

    Program run() {
        std::vector<Step> steps = std::move(program_.steps);
        program_.steps.clear();
        for (Step& step : steps)
            if (auto* computation = std::get_if<Computation>(&step);
                computation == nullptr || !split(*computation))
                program_.steps.push_back(std::move(step));
        return std::move(program_);
    }

private:
    bool split(const Computation& computation) {
        const auto contraction = contractionOf(program_, computation);
        const auto parts = contraction ? partsOf(*contraction, options_) : std::nullopt;
        if (!parts)
            return false;
        program_.axes = std::max(program_.axes, contraction->axes);
        const Axis whole = contraction->depth[parts->axis];
        const std::int64_t size = *whole.extent->constant() / parts->count;
        const Axis part = axis("part", parts->count);
        const Axis inner = axis(whole.name, size);
        Computation first =
            substituted(contraction->computation,
                        {{whole.id, Index::of(part) * Index(size) + Index::of(inner)}});
        first.name += "_parts";
        first.reduced[parts->axis] = inner;
        first.axes.insert(first.axes.begin(), part);
        Computation second = contraction->computation;
        second.reduced = {axis("part", parts->count)};
        addBetween(first, second);
        program_.steps.emplace_back(std::move(first));
        program_.steps.emplace_back(std::move(second));
        return true;
    }

    /// The buffer of the parts' sums.
    void addBetween(Computation& first, Computation& second) {
        const analysis::ScalarKind type = first.reductions[0].type;
        std::vector<Index> shape;
        std::vector<Index> written;
        for (const Axis& each : first.axes) {
            shape.push_back(*each.extent);
            written.push_back(Index::of(each));
        }
        std::vector<Index> read = written;
        read[0] = Index::of(second.reduced[0]);
        const auto buffer = static_cast<BufferId>(program_.buffers.size());
        program_.buffers.push_back(
            {freshBufferName(program_, first.name), type, shape, Buffer::Role::Local, ""});
        first.stores = {{buffer, written, analysis::raise::accumulated(type, 0)}};
        second.reductions[0].element = analysis::raise::load(type, buffer, read);
    }

    Axis axis(const std::string& name, std::int64_t extent) {
        return {program_.axes++, name, std::make_shared<const Index>(extent)};
    }

    Program program_;
    const KernelOptions& options_;
};

} // namespace

Program withSplitContractions(Program program, const KernelOptions& options) {
    return ContractionSplitting(std::move(program), options).run();
}

} // namespace kernelskill::engine::graph
