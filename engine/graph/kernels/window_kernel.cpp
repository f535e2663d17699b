#include "engine/graph/kernels/window_kernel.h"

#include "analysis/raise/merged_axes.h"
#include "engine/graph/kernels/kernel_draft.h"
#include "engine/graph/kernels/window_reads.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::Computation;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::Reduction;
using analysis::raise::Scalar;
using analysis::raise::ScalarNode;

constexpr std::size_t threads = 256;
constexpr std::size_t mostBytes = 40 << 10; ///< Of shared memory: five blocks share a processor.

/// The extents along an axis of what a block computes and of what it copies.
struct Tile {
    std::int64_t results = 1;
    std::int64_t places = 1;
};

std::int64_t productOf(const std::vector<Tile>& tiles, std::int64_t Tile::* extent) {
    std::int64_t product = 1;
    for (const Tile& tile : tiles)
        product *= tile.*extent;
    return product;
}

std::int64_t extentOf(const Axis& axis) {
    return *axis.extent->constant();
}

std::int64_t windowOf(const WindowAxis& axis) {
    return axis.window ? extentOf(*axis.window) : 1;
}

std::int64_t powerOfTwoFrom(std::int64_t extent) {
    std::int64_t power = 1;
    while (power < extent)
        power *= 2;
    return power;
}

void setPlaces(Tile& tile, const WindowAxis& axis) {
    tile.places = axis.window
                      ? axis.stride * (tile.results - 1) + axis.dilation * (windowOf(axis) - 1) + 1
                      : tile.results;
}

/// The extents of a block's results by the number of axes, the innermost last.
std::vector<std::int64_t> wantedExtents(std::size_t axes) {
    constexpr std::array<std::int64_t, 1> one = {1024};
    constexpr std::array<std::int64_t, 2> two = {16, 64};
    constexpr std::array<std::int64_t, 3> three = {8, 8, 32};
    if (axes == 1)
        return {one.begin(), one.end()};
    if (axes == 2)
        return {two.begin(), two.end()};
    return {three.begin(), three.end()};
}

/// Chooses the tile: short axes leave their share to others, the innermost one first.
std::vector<Tile> tilesFor(const WindowReads& windows, std::size_t bytesOfPlace) {
    const std::vector<std::int64_t> wanted = wantedExtents(windows.axes.size());
    std::vector<Tile> tiles(wanted.size());
    std::int64_t left = 1;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        tiles[i].results = std::min(wanted[i], powerOfTwoFrom(extentOf(windows.axes[i].results)));
        left *= wanted[i] / tiles[i].results;
    }
    for (std::size_t i = tiles.size(); i-- > 0;)
        while (left > 1 && tiles[i].results < extentOf(windows.axes[i].results)) {
            tiles[i].results *= 2;
            left /= 2;
        }
    const auto measure = [&] {
        for (std::size_t i = 0; i < tiles.size(); ++i)
            setPlaces(tiles[i], windows.axes[i]);
        return static_cast<std::size_t>(productOf(tiles, &Tile::places)) * bytesOfPlace;
    };
    while (measure() > mostBytes) {
        const auto largest = std::ranges::max_element(tiles, {}, &Tile::results);
        if (largest->results == 1)
            break;
        largest->results /= 2;
    }
    return tiles;
}

std::size_t bytesOfPlace(const WindowReads& windows) {
    std::size_t bytes = 0;
    for (const WindowRead& read : windows.reads)
        bytes += computedType(read.place->type) == ScalarKind::Double ? 8 : 4;
    return bytes;
}

/// Whether an element that a block copies stands for several loads, and its threads have work.
bool isWorthIt(const WindowReads& windows, const std::vector<Tile>& tiles) {
    constexpr std::int64_t fewestShared = 2;
    const std::int64_t places = productOf(tiles, &Tile::places);
    const std::int64_t results = productOf(tiles, &Tile::results);
    std::int64_t window = 1;
    for (const WindowAxis& axis : windows.axes)
        window *= windowOf(axis);
    return static_cast<std::size_t>(places) * bytesOfPlace(windows) <= mostBytes &&
           results >= static_cast<std::int64_t>(threads) &&
           window * results >= fewestShared * places;
}

class WindowWriter {
public:
    WindowWriter(const Program& program, Computation computation, WindowReads windows,
                 std::vector<Tile> tiles)
        : program_(program), computation_(std::move(computation)), windows_(std::move(windows)),
          tiles_(std::move(tiles)), kernel_(draftOf(program, {&computation_, 1})),
          text_(program, indexWidthOf(program, computation_)) {
        std::set<std::string> taken = namesOf(program, kernel_);
        bindNames(text_, computation_.axes, taken);
        bindNames(text_, computation_.reduced, taken);
        tile_ = freshName("tile", taken);
        place_ = freshName("place", taken);
        result_ = freshName("result", taken);
        for (const WindowAxis& axis : windows_.axes) {
            bindNames(text_, {axis.places}, taken);
            firsts_.push_back(freshName("first_" + nameOf(axis.results), taken));
            within_.push_back(freshName(nameOf(axis.results) + "_in", taken));
        }
        for (std::size_t i = 0; i < windows_.reads.size(); ++i)
            arrays_.push_back(freshName(i == 0 ? "reach" : fmt::format("reach{}", i), taken));
    }

    Kernel run() {
        const std::int64_t places = productOf(tiles_, &Tile::places);
        for (std::size_t i = 0; i < arrays_.size(); ++i)
            lines_.add(
                fmt::format("__shared__ {} {}[{}];",
                            analysis::raise::spelling(computedType(windows_.reads[i].place->type)),
                            arrays_[i], places));
        const Index blocks = declareTile();
        copyPlaces(places);
        lines_.add("__syncthreads();");
        computeResults();
        return finished(blocks);
    }

private:
    std::string nameOf(const Axis& axis) { return text_.index(Index::of(axis)); }
    std::string_view type() const { return spelling(text_.width()); }

    /// Declares the block's first result along each axis, and the other axes; returns the number of
    /// blocks.
    Index declareTile() {
        const bool isWide = text_.width() == IndexWidth::Bits64;
        lines_.add(fmt::format("const {} {} = {};", type(), tile_,
                               isWide ? "static_cast<long long>(blockIdx.x)" : "blockIdx.x"));
        Index blocks = 1;
        const auto numberOf = [&] {
            return blocks.constant() == 1
                       ? tile_
                       : fmt::format("{} / {}", tile_, text_.index(blocks, true));
        };
        for (std::size_t i = windows_.axes.size(); i-- > 0;) {
            const Index count =
                roundedUpQuotient(*windows_.axes[i].results.extent, tiles_[i].results);
            lines_.add(count.constant() == 1
                           ? fmt::format("const {} {} = 0;", type(), firsts_[i])
                           : fmt::format("const {} {} = {} % {} * {};", type(), firsts_[i],
                                         numberOf(), text_.index(count, true), tiles_[i].results));
            blocks = blocks * count;
        }
        std::vector<Axis> others;
        for (const Axis& axis : computation_.axes)
            if (std::ranges::none_of(windows_.axes, [&](const WindowAxis& each) {
                    return each.results.id == axis.id;
                }))
                others.push_back(axis);
        if (!others.empty())
            declareAxes(lines_, text_, others, numberOf());
        return blocks * elementsOf(extentsOf(others));
    }

    /// Writes the loop that copies what the block's windows reach.
    void copyPlaces(std::int64_t places) {
        lines_.add("#pragma unroll 8"); // So that several loads are under way together.
        lines_.open(fmt::format("for (int {0} = threadIdx.x; {0} < {1}; {0} += {2}) {{", place_,
                                places, threads));
        std::string bound;
        std::int64_t inner = 1;
        for (std::size_t i = windows_.axes.size(); i-- > 0;) {
            const WindowAxis& axis = windows_.axes[i];
            const std::string first =
                axis.stride == 1 ? firsts_[i] : fmt::format("{} * {}", axis.stride, firsts_[i]);
            lines_.add(fmt::format("const {} {} = {} + {};", type(), nameOf(axis.places), first,
                                   partOf(place_, inner, i == 0 ? 0 : tiles_[i].places)));
            inner *= tiles_[i].places;
            if (extentOf(axis.results) % tiles_[i].results != 0)
                bound = fmt::format("{} < {}{}{}", nameOf(axis.places),
                                    text_.index(*axis.places.extent), bound.empty() ? "" : " && ",
                                    bound);
        }
        if (!bound.empty())
            lines_.open(fmt::format("if ({}) {{", bound));
        std::vector<Scalar> values;
        for (const WindowRead& read : windows_.reads)
            values.push_back(read.place);
        const CudaText::Values texts = text_.values(values);
        lines_.addAll(texts.statements);
        for (std::size_t i = 0; i < arrays_.size(); ++i)
            lines_.add(fmt::format("{}[{}] = {};", arrays_[i], place_, texts.values[i]));
        if (!bound.empty())
            lines_.close();
        lines_.close();
    }

    /// "number / inner % extent", as far as that is needed; `extent` is 0 for the outermost axis.
    static std::string partOf(const std::string& number, std::int64_t inner, std::int64_t extent) {
        std::string part = number;
        if (inner > 1)
            part = fmt::format("{} / {}", part, inner);
        if (extent > 0)
            part = fmt::format("{} % {}", part, extent);
        return part;
    }

    void computeResults() {
        lines_.open(fmt::format("for (int {0} = threadIdx.x; {0} < {1}; {0} += {2}) {{", result_,
                                productOf(tiles_, &Tile::results), threads));
        std::string bound;
        std::int64_t inner = 1;
        for (std::size_t i = windows_.axes.size(); i-- > 0;) {
            const WindowAxis& axis = windows_.axes[i];
            lines_.add(fmt::format("const int {} = {};", within_[i],
                                   partOf(result_, inner, i == 0 ? 0 : tiles_[i].results)));
            lines_.add(fmt::format("const {} {} = {} + {};", type(), nameOf(axis.results),
                                   firsts_[i], within_[i]));
            inner *= tiles_[i].results;
            if (extentOf(axis.results) % tiles_[i].results != 0)
                bound = fmt::format("{} < {}{}{}", nameOf(axis.results),
                                    text_.index(*axis.results.extent), bound.empty() ? "" : " && ",
                                    bound);
        }
        if (!bound.empty())
            lines_.open(fmt::format("if ({}) {{", bound));
        reduceWindows();
        addStores(lines_, text_, computation_.stores);
        if (!bound.empty())
            lines_.close();
        lines_.close();
    }

    void reduceWindows() {
        std::vector<Scalar> elements;
        for (std::size_t i = 0; i < computation_.reductions.size(); ++i) {
            const Reduction& reduction = computation_.reductions[i];
            const auto kind = computedType(reduction.type);
            lines_.add(fmt::format("{} acc{} = {};", analysis::raise::spelling(kind), i,
                                   neutralText(reduction.reducer, kind)));
            elements.push_back(fromShared(reduction.element));
        }
        openLoops(lines_, text_, computation_.reduced);
        text_.setLeaf([&](const ScalarNode& node) -> std::optional<std::string> {
            const auto place = shared_.find(&node);
            return place != shared_.end() ? std::optional(place->second) : std::nullopt;
        });
        const CudaText::Values values = text_.values(elements);
        lines_.addAll(values.statements);
        for (std::size_t i = 0; i < elements.size(); ++i) {
            const Reduction& reduction = computation_.reductions[i];
            const std::string acc = fmt::format("acc{}", i);
            lines_.add(fmt::format(
                "{} = {};", acc,
                text_.combined(reduction.reducer, reduction.type, acc, values.values[i])));
        }
        closeLoops(lines_, computation_.reduced);
        text_.setLeaf({});
    }

    /// Returns the value with loads from shared memory for what was copied there.
    Scalar fromShared(const Scalar& value) {
        Scalar& written = written_[value.get()];
        if (written)
            return written;
        for (std::size_t i = 0; i < windows_.reads.size(); ++i)
            if (windows_.reads[i].element == value)
                return written = sharedLoad(i);
        ScalarNode copy = *value;
        for (Scalar& argument : copy.arguments)
            argument = fromShared(argument);
        return written = std::make_shared<const ScalarNode>(std::move(copy));
    }

    Scalar sharedLoad(std::size_t read) {
        std::string at;
        for (std::size_t i = 0; i < windows_.axes.size(); ++i) {
            const WindowAxis& axis = windows_.axes[i];
            std::string place =
                axis.stride == 1 ? within_[i] : fmt::format("{} * {}", axis.stride, within_[i]);
            if (axis.window)
                place += axis.dilation == 1
                             ? " + " + nameOf(*axis.window)
                             : fmt::format(" + {} * {}", axis.dilation, nameOf(*axis.window));
            at = at.empty() ? place : fmt::format("({}) * {} + {}", at, tiles_[i].places, place);
        }
        ScalarNode node;
        node.kind = ScalarNode::Kind::Load;
        node.type = computedType(windows_.reads[read].element->type);
        // Such a position has no tensor.
        node.position = {Index(-1), Index(static_cast<std::int64_t>(read))};
        auto load = std::make_shared<const ScalarNode>(std::move(node));
        shared_[load.get()] = fmt::format("{}[{}]", arrays_[read], at);
        return load;
    }

    Kernel finished(const Index& blocks) {
        const std::set<std::string>& helpers = text_.helpers();
        kernel_.helpers.assign(helpers.begin(), helpers.end());
        std::string extents;
        for (const Tile& tile : tiles_)
            extents += fmt::format("{}{}", extents.empty() ? "" : " x ", tile.results);
        kernel_.schedule = fmt::format(
            "a block computes {} results, and has what their windows reach in shared memory",
            extents);
        kernel_.blocks[0] = blocks;
        kernel_.threads = {threads, 1, 1};
        kernel_.definition = definitionText(program_, kernel_, lines_.text());
        return std::move(kernel_);
    }

    const Program& program_;
    Computation computation_;
    WindowReads windows_;
    std::vector<Tile> tiles_; ///< For each axis of `windows_`.
    Kernel kernel_;
    CudaText text_;
    std::string tile_;                ///< The variable of the block's number.
    std::string place_;               ///< The variable of what a thread copies.
    std::string result_;              ///< The variable of what a thread computes, in the tile.
    std::vector<std::string> firsts_; ///< The variables of the first results along each axis.
    std::vector<std::string> within_; ///< The variables of a result's number in the tile.
    std::vector<std::string> arrays_; ///< The arrays, one for each read.
    std::map<const ScalarNode*, Scalar> written_;     ///< What fromShared() returned.
    std::map<const ScalarNode*, std::string> shared_; ///< The texts of loads from shared memory.
    CodeLines lines_;
};

} // namespace

std::optional<Kernel> windowKernel(const Program& program, const Computation& computation) {
    std::uint32_t axes = program.axes;
    Computation merged = withMergedAxes(program, computation, axes);
    auto windows = windowReads(merged, axes);
    if (!windows)
        return std::nullopt;
    std::vector<Tile> tiles = tilesFor(*windows, bytesOfPlace(*windows));
    if (!isWorthIt(*windows, tiles))
        return std::nullopt;
    return WindowWriter(program, std::move(merged), *std::move(windows), std::move(tiles)).run();
}

} // namespace kernelskill::engine::graph
