#include "engine/graph/kernels/transposing_kernel.h"

#include "analysis/raise/merged_axes.h"
#include "engine/graph/kernels/kernel_draft.h"
#include "engine/graph/kernels/vector_accesses.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::BufferId;
using analysis::raise::Computation;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::ScalarNode;
using analysis::raise::Store;

constexpr std::int64_t side = 32; ///< Of a tile, in elements; a warp has a row.
constexpr std::int64_t rowsAtOnce = 8;

/// A load whose elements a block copies to a tile first.
struct TiledLoad {
    BufferId buffer = 0;
    Index element; ///< Flattened.
};

/// Holds the loads of a map that go through tiles.
struct Transposition {
    Axis along; ///< The axis that these loads go along.
    std::vector<TiledLoad> loads;
};

/// Whether the axis is long enough to fill most of a tile's side.
bool fillsTiles(const Axis& axis) {
    const auto extent = axis.extent->constant();
    return !extent || *extent > side / 2;
}

/// Finds the axis that most loads go along while the stores go along another one.
std::optional<Transposition> transpositionOf(const Program& program,
                                             const Computation& computation) {
    constexpr std::size_t mostTiles = 8; // They take 34 KB.
    if (!computation.reductions.empty() || computation.axes.size() < 2)
        return std::nullopt;
    const Axis& inner = computation.axes.back();
    const auto flat = [&](BufferId buffer, const std::vector<Index>& position) {
        return flattened(position, program.buffers.at(buffer).shape);
    };
    if (!fillsTiles(inner) || !std::ranges::all_of(computation.stores, [&](const Store& store) {
            return goesAlong(flat(store.buffer, store.position), inner);
        }))
        return std::nullopt;
    std::vector<TiledLoad> loads;
    for (const ScalarNode* load : eagerLoads(computation)) {
        TiledLoad tiled{load->buffer, flat(load->buffer, load->position)};
        const bool isKnown = std::ranges::any_of(loads, [&](const TiledLoad& other) {
            return other.buffer == tiled.buffer && other.element == tiled.element;
        });
        if (!isKnown && !tiled.element.readsData() && tiled.element.mentions(inner.id) &&
            !goesAlong(tiled.element, inner))
            loads.push_back(std::move(tiled));
    }
    Transposition most;
    for (std::size_t i = 0; i + 1 < computation.axes.size(); ++i) {
        Transposition found{computation.axes[i], {}};
        if (!fillsTiles(found.along))
            continue;
        std::ranges::copy_if(loads, std::back_inserter(found.loads), [&](const TiledLoad& load) {
            return goesAlong(load.element, found.along);
        });
        if (found.loads.size() > most.loads.size())
            most = std::move(found);
    }
    if (most.loads.empty() || most.loads.size() > mostTiles)
        return std::nullopt;
    return most;
}

class TransposingWriter {
public:
    TransposingWriter(const Program& program, Computation computation, Transposition transposition)
        : program_(program), computation_(std::move(computation)),
          transposition_(std::move(transposition)), kernel_(draftOf(program, {&computation_, 1})),
          text_(program, indexWidthOf(program, computation_)) {
        std::set<std::string> taken = namesOf(program, kernel_);
        bindNames(text_, computation_.axes, taken);
        line_ = freshName("line", taken);
        tile_ = freshName("tile", taken);
        for (const Axis* axis : {&transposition_.along, &computation_.axes.back()})
            firsts_[axis->id] = freshName("first_" + nameOf(*axis), taken);
        for (const TiledLoad& load : transposition_.loads)
            tiles_.push_back(freshName(program.buffers.at(load.buffer).name + "_tile", taken));
    }

    Kernel run() {
        const Axis& inner = computation_.axes.back();
        const Index across = roundedUpQuotient(*inner.extent, side);
        const Index along = roundedUpQuotient(*transposition_.along.extent, side);
        for (std::size_t i = 0; i < tiles_.size(); ++i)
            lines_.add(fmt::format("__shared__ {} {}[{}][{}];",
                                   analysis::raise::spelling(
                                       program_.buffers.at(transposition_.loads[i].buffer).element),
                                   tiles_[i], side, side + 1));
        declareTile(inner, across, along);
        openRows(transposition_.along, inner);
        for (std::size_t i = 0; i < tiles_.size(); ++i)
            lines_.add(fmt::format("{}[{}][threadIdx.x] = {}[{}];", tiles_[i], line_,
                                   program_.buffers.at(transposition_.loads[i].buffer).name,
                                   text_.index(transposition_.loads[i].element)));
        closeRows();
        lines_.add("__syncthreads();");
        openRows(inner, transposition_.along);
        writeStores();
        closeRows();
        return finished(across * along);
    }

private:
    /// Declares the tile's first elements along both axes, and the other axes.
    void declareTile(const Axis& inner, const Index& across, const Index& along) {
        const bool isWide = text_.width() == IndexWidth::Bits64;
        lines_.add(fmt::format("const {} {} = {};", spelling(text_.width()), tile_,
                               isWide ? "static_cast<long long>(blockIdx.x)" : "blockIdx.x"));
        declareFirst(inner, tile_, text_.index(across, true));
        declareFirst(transposition_.along, fmt::format("{} / {}", tile_, text_.index(across, true)),
                     text_.index(along, true));
        std::vector<Axis> others;
        for (const Axis& axis : computation_.axes)
            if (axis.id != inner.id && axis.id != transposition_.along.id)
                others.push_back(axis);
        if (!others.empty())
            declareAxes(lines_, text_, others,
                        fmt::format("{} / {}", tile_, text_.index(across * along, true)));
    }

    /// Declares the first element of the tile `number` of `count` along the axis.
    void declareFirst(const Axis& axis, const std::string& number, const std::string& count) {
        lines_.add(fmt::format("const {} {} = {} % {} * {};", spelling(text_.width()),
                               firsts_.at(axis.id), number, count, side));
    }

    std::string nameOf(const Axis& axis) { return text_.index(Index::of(axis)); }

    /// Begins a loop over the rows of a tile that a thread copies or computes. Neighbouring threads
    /// have neighbouring elements along `ofThreads`.
    void openRows(const Axis& ofThreads, const Axis& ofRows) {
        lines_.add("#pragma unroll");
        lines_.open(fmt::format("for (int {0} = threadIdx.y; {0} < {1}; {0} += {2}) {{", line_,
                                side, rowsAtOnce));
        const std::string x = nameOf(ofThreads);
        const std::string y = nameOf(ofRows);
        lines_.add(fmt::format("const {} {} = {} + threadIdx.x;", spelling(text_.width()), x,
                               firsts_.at(ofThreads.id)));
        lines_.add(fmt::format("const {} {} = {} + {};", spelling(text_.width()), y,
                               firsts_.at(ofRows.id), line_));
        lines_.open(fmt::format("if ({} < {} && {} < {}) {{", x, text_.index(*ofThreads.extent), y,
                                text_.index(*ofRows.extent)));
    }

    void closeRows() {
        lines_.close();
        lines_.close();
    }

    void writeStores() {
        text_.setLeaf([&](const ScalarNode& node) { return leaf(node); });
        addStores(lines_, text_, computation_.stores);
    }

    std::optional<std::string> leaf(const ScalarNode& node) const {
        if (node.kind != ScalarNode::Kind::Load)
            return std::nullopt;
        const Index element = flattened(node.position, program_.buffers.at(node.buffer).shape);
        for (std::size_t i = 0; i < tiles_.size(); ++i)
            if (transposition_.loads[i].buffer == node.buffer &&
                transposition_.loads[i].element == element)
                return computedText(node.type,
                                    fmt::format("{}[threadIdx.x][{}]", tiles_[i], line_));
        return std::nullopt;
    }

    Kernel finished(const Index& tiles) {
        Index blocks = tiles;
        for (const Axis& axis : computation_.axes)
            if (axis.id != computation_.axes.back().id && axis.id != transposition_.along.id)
                blocks = blocks * *axis.extent;
        const std::set<std::string>& helpers = text_.helpers();
        kernel_.helpers.assign(helpers.begin(), helpers.end());
        kernel_.schedule = fmt::format(
            "a block transposes a tile of {0} x {0} elements in shared memory, and computes them",
            side);
        kernel_.blocks[0] = std::move(blocks);
        kernel_.threads = {static_cast<std::size_t>(side), static_cast<std::size_t>(rowsAtOnce), 1};
        kernel_.definition = definitionText(program_, kernel_, lines_.text());
        return std::move(kernel_);
    }

    const Program& program_;
    Computation computation_;
    Transposition transposition_;
    Kernel kernel_;
    CudaText text_;
    std::string line_;                            ///< The variable of a tile's row.
    std::string tile_;                            ///< The variable of the tile's number.
    std::vector<std::string> tiles_;              ///< The arrays, one for each load.
    std::map<std::uint32_t, std::string> firsts_; ///< The variables of a tile's first elements.
    CodeLines lines_;
};

} // namespace

std::optional<Kernel> transposingKernel(const Program& program, const Computation& computation) {
    std::uint32_t axes = program.axes;
    Computation merged = withMergedAxes(program, computation, axes);
    auto transposition = transpositionOf(program, merged);
    if (!transposition)
        return std::nullopt;
    return TransposingWriter(program, std::move(merged), *std::move(transposition)).run();
}

} // namespace kernelskill::engine::graph
