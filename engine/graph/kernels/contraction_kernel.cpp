#include "engine/graph/kernels/contraction_kernel.h"

#include "engine/graph/kernels/contraction_multiply.h"
#include "engine/graph/kernels/kernel_draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::Buffer;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::Scalar;
using analysis::raise::Store;

/// One of the two factors, with the words that its part of the text is written in.
struct FactorSide {
    std::string name;    ///< "left"
    std::string outer;   ///< "row"
    std::string capital; ///< "Row"
    const std::vector<Axis>* axes = nullptr;
    int tile = 0; ///< Rows or columns of a block's tile.
    FactorAccess access;
    TileLayout layout = TileLayout::DepthByOuter;

    [[nodiscard]] std::string title() const { return name == "left" ? "Left" : "Right"; }
};

std::string namesOf(const std::vector<Axis>& axes) {
    std::string names;
    for (const Axis& axis : axes)
        names += (names.empty() ? "" : ", ") + axis.name;
    return names;
}

/// Names that the text declares itself, so no buffer may have them.
const std::set<std::string>& ownNames() {
    static const std::set<std::string> names = {"rows",
                                                "columns",
                                                "steps",
                                                "tileRows",
                                                "tileColumns",
                                                "tileDepth",
                                                "warpRows",
                                                "warpColumns",
                                                "stages",
                                                "memory",
                                                "leftTiles",
                                                "rightTiles",
                                                "leftSize",
                                                "rightSize",
                                                "rowTiles",
                                                "columnTiles",
                                                "tile",
                                                "batch",
                                                "firstRow",
                                                "firstColumn",
                                                "leftRow",
                                                "leftDepth",
                                                "rightColumn",
                                                "rightDepth",
                                                "fetchLeft",
                                                "fetchRight",
                                                "storeLeft",
                                                "storeRight",
                                                "leftNext",
                                                "rightNext",
                                                "step",
                                                "slot",
                                                "depth",
                                                "firstDepth",
                                                "isInside",
                                                "multiply",
                                                "sums",
                                                "sum",
                                                "row",
                                                "column",
                                                "i",
                                                "j",
                                                "part",
                                                "half",
                                                "group",
                                                "member",
                                                "results",
                                                "pitch",
                                                "left",
                                                "right",
                                                "warpRow",
                                                "warpColumn",
                                                "laneRow",
                                                "laneColumn",
                                                "leftPart",
                                                "rightPart",
                                                "leftGroups",
                                                "rightGroups",
                                                "rowsOfThread",
                                                "band",
                                                "rightPair",
                                                "upper",
                                                "lower",
                                                "warpsAcross",
                                                "multiplyAdd",
                                                "pairOf",
                                                "splitPair",
                                                "Pair",
                                                "SplitPair",
                                                "roundedToTF32",
                                                "columnsOfThread",
                                                "quad",
                                                "leftNumber",
                                                "rightNumber",
                                                "bandTiles",
                                                "number",
                                                "bandRows",
                                                "stage",
                                                "ahead",
                                                "place"};
    return names;
}

class TiledContraction {
public:
    TiledContraction(const Program& program, const Contraction& contraction,
                     const ContractionTile& tile)
        : program_(renamed(program)), contraction_(contraction), tile_(tile),
          kernel_(draftOf(program_, {&contraction.computation, 1})),
          text_(program_, indexWidthOf(program_, contraction.computation)),
          depth_(depthOrderOf(
              program_, contraction.depth,
              {{contraction.left, contraction.rows}, {contraction.right, contraction.columns}})) {
        left_ = side("left", contraction.left, contraction.rows, tile.rows);
        right_ = side("right", contraction.right, contraction.columns, tile.columns);
        taken_ = ownNames();
        for (const KernelParameter& parameter : kernel_.parameters)
            taken_.insert(program_.buffers.at(parameter.buffer).name);
        taken_.insert(kernel_.symbols.begin(), kernel_.symbols.end());
        bindNames(text_, contraction.batches, taken_);
        bindNames(text_, depth_.taps, taken_);
        bindNames(text_, depth_.inner, taken_);
    }

    Kernel run() {
        writeConstants();
        writePlace();
        writeFetch(left_);
        writeFetch(right_);
        writeMultiply(lines_, tile_, left_.layout, right_.layout);
        writeSteps();
        writeResults();
        finish();
        return std::move(kernel_);
    }

private:
    /// The buffers alone, with other names for those that have a name of the text's own.
    static Program renamed(const Program& program) {
        Program result;
        result.buffers = program.buffers;
        result.axes = program.axes;
        for (Buffer& buffer : result.buffers)
            if (ownNames().contains(buffer.name))
                buffer.name += "_tensor";
        return result;
    }

    FactorSide side(const std::string& name, const Scalar& factor, const std::vector<Axis>& axes,
                    int tile) const {
        FactorSide result;
        result.name = name;
        result.outer = name == "left" ? "row" : "column";
        result.capital = name == "left" ? "Row" : "Column";
        result.axes = &axes;
        result.tile = tile;
        result.access = accessOf(program_, factor, axes, depth_);
        result.layout = layoutOf(tile_, result.access, tile);
        return result;
    }

    /// Whether elements go to shared memory without passing through registers.
    [[nodiscard]] bool isAsync(const FactorSide& side) const {
        const bool isTurned = side.access.isAlongDepth && side.layout != TileLayout::OuterByDepth;
        return side.access.copied && (side.access.width == 1 || !isTurned);
    }
    [[nodiscard]] int stages() const { return tile_.stages; }

    void addConstant(const std::string& name, const std::string& value) {
        lines_.add(fmt::format("constexpr int {} = {};", name, value));
    }
    void addExtent(const std::string& name, const Index& extent) {
        lines_.add(fmt::format("{} int {} = {};", extent.constant() ? "constexpr" : "const", name,
                               text_.index(extent)));
    }

    void writeConstants() {
        const std::string depthText = namesOf(contraction_.depth);
        lines_.add(fmt::format("// A block computes a tile of rows ({}) by columns ({}), and goes "
                               "through the depth ({})",
                               namesOf(contraction_.rows), namesOf(contraction_.columns),
                               depthText));
        lines_.add("// in steps: tiles of both factors are in shared memory for each.");
        addConstant("tileRows", std::to_string(tile_.rows));
        addConstant("tileColumns", std::to_string(tile_.columns));
        addConstant("tileDepth", std::to_string(tile_.depth));
        addConstant("warpRows", std::to_string(tile_.warpRows));
        addConstant("warpColumns", std::to_string(tile_.warpColumns));
        addConstant("stages", std::to_string(stages()));
        addExtent("rows", extentOf(contraction_.rows));
        addExtent("columns", extentOf(contraction_.columns));
        const Index inner = extentOf(depth_.inner);
        const Index blocks = quotient(inner + (tile_.depth - 1), tile_.depth);
        addExtent("steps", extentOf(depth_.taps) * blocks);
        lines_.add("extern __shared__ float4 memory[];");
        addConstant("leftSize", std::to_string(sizeOf(left_.layout, tile_, tile_.rows)));
        addConstant("rightSize", std::to_string(sizeOf(right_.layout, tile_, tile_.columns)));
        lines_.add("float* const leftTiles = reinterpret_cast<float*>(memory);");
        lines_.add("float* const rightTiles = leftTiles + stages * leftSize;");
        lines_.add("");
    }

    /// Which tile the block computes. Blocks that run at once share rows and columns.
    void writePlace() {
        lines_.add("// Neighbouring blocks go down a band of eight tiles of rows, then to the next "
                   "columns.");
        lines_.add("constexpr int bandRows = 8;");
        const bool isConstant = extentOf(contraction_.rows).constant().has_value();
        const bool areConstant = extentOf(contraction_.columns).constant().has_value();
        lines_.add(fmt::format("{} int rowTiles = (rows + tileRows - 1) / tileRows;",
                               isConstant ? "constexpr" : "const"));
        lines_.add(fmt::format("{} int columnTiles = (columns + tileColumns - 1) / tileColumns;",
                               areConstant ? "constexpr" : "const"));
        const bool hasBatches = !contraction_.batches.empty();
        if (hasBatches) {
            lines_.add("const int batch = blockIdx.x / (rowTiles * columnTiles);");
            lines_.add("const int tile = blockIdx.x % (rowTiles * columnTiles);");
            declareAxes(lines_, text_, contraction_.batches, "batch");
        } else {
            lines_.add("const int tile = blockIdx.x;");
        }
        lines_.add("const int band = tile / (bandRows * columnTiles) * bandRows;");
        lines_.add("const int bandTiles = min(rowTiles - band, bandRows);");
        lines_.add("const int firstRow = "
                   "(band + tile % (bandRows * columnTiles) % bandTiles) * tileRows;");
        lines_.add("const int firstColumn = "
                   "tile % (bandRows * columnTiles) / bandTiles * tileColumns;");
        lines_.add("");
    }

    /// The elements of a tile that a thread loads: `slots` of them, `stride` apart in the depth (or
    /// in the rows or columns, if those are not the neighbours in memory).
    struct Share {
        int perLine = 1; ///< Accesses that load a line of neighbours.
        int stride = 1;
        int slots = 1;
        bool isPartial = false; ///< Some threads load nothing.
    };
    [[nodiscard]] Share shareOf(const FactorSide& side) const {
        const bool along = side.access.isAlongDepth;
        const int line = along ? tile_.depth : side.tile;
        const int lines = along ? side.tile : tile_.depth;
        Share share;
        share.perLine = line / side.access.width;
        share.stride = std::max(tile_.threads() / share.perLine, 1);
        share.isPartial = share.stride > lines;
        share.slots = share.isPartial ? 1 : lines / share.stride;
        return share;
    }

    void writeFetch(const FactorSide& side) {
        const Share share = shareOf(side);
        const FactorAccess& access = side.access;
        const bool along = access.isAlongDepth;
        const std::string outerName = side.name + side.capital; // "leftRow"
        const std::string depthName = side.name + "Depth";
        const std::string times = access.width == 1 ? "" : fmt::format(" * {}", access.width);
        lines_.add(
            fmt::format("// A thread loads {} of the {} factor's tile, {} apart in the {}.",
                        share.slots == 1
                            ? std::string(access.width == 4 ? "four neighbours" : "an element")
                            : fmt::format("{} {}", share.slots,
                                          access.width == 4 ? "times four neighbours" : "elements"),
                        side.name, share.stride, along ? side.outer + "s" : "depth"));
        lines_.add(fmt::format("const int {} = threadIdx.x % {}{};", along ? depthName : outerName,
                               share.perLine, times));
        lines_.add(fmt::format("const int {} = threadIdx.x / {};", along ? outerName : depthName,
                               share.perLine));
        bindReads(side);
        if (!along)
            declareOuter(side, fmt::format("first{} + {}", side.capital, outerName));
        if (!isAsync(side))
            lines_.add(fmt::format("float {}Next[{}];", side.name, share.slots * access.width));
        const bool async = isAsync(side);
        lines_.open(fmt::format("const auto fetch{} = [&](int step{}) {{", side.title(),
                                async ? ", float* tile" : ""));
        declareStep();
        openSlots(share);
        declareSlot(side, share);
        if (along)
            declareOuter(side, fmt::format("first{} + {}", side.capital, side.outer));
        writeLoad(side);
        lines_.close();
        lines_.close("};");
        if (!async)
            writeStore(side, share);
        lines_.add("");
    }

    void openSlots(const Share& share) {
        lines_.add("#pragma unroll");
        lines_.open(fmt::format("for (int slot = 0; slot < {}; ++slot) {{", share.slots));
    }

    /// `row` (or `column`) and `depth`: the place of a slot's first element in the tile.
    void declareSlot(const FactorSide& side, const Share& share) {
        const std::string outerName = side.name + side.capital;
        const std::string depthName = side.name + "Depth";
        const std::string offset =
            share.stride == 1 ? " + slot" : fmt::format(" + slot * {}", share.stride);
        const bool along = side.access.isAlongDepth;
        lines_.add(fmt::format("const int {} = {}{};", side.outer, outerName, along ? offset : ""));
        lines_.add(fmt::format("const int depth = {}{};", depthName, along ? "" : offset));
        if (share.isPartial)
            lines_.add(fmt::format("if ({} >= {}) break;", along ? side.outer : "depth",
                                   along ? side.tile : tile_.depth));
    }

    /// Names for the factor's rows or columns where it is loaded.
    void bindReads(const FactorSide& side) {
        for (const Axis& axis : *side.axes) {
            std::string name = axis.name + "_read";
            while (!taken_.insert(name).second)
                name += "_";
            text_.bind(axis.id, name);
        }
    }

    void declareOuter(const FactorSide& side, const std::string& number) {
        const std::string name = side.name + "Number";
        lines_.add(fmt::format("const int {} = {};", name, number));
        declareAxes(lines_, text_, *side.axes, name);
    }

    /// The taps of a step, and the first element of the inner depth.
    void declareStep() {
        if (depth_.taps.empty()) {
            lines_.add("const int firstDepth = step * tileDepth;");
            return;
        }
        const Index inner = extentOf(depth_.inner);
        const Index blocks = quotient(inner + (tile_.depth - 1), tile_.depth);
        if (blocks.constant() == 1) {
            lines_.add("const int firstDepth = 0;");
            lines_.add("const int number = step;");
        } else {
            lines_.add(fmt::format("const int firstDepth = step % {} * tileDepth;",
                                   text_.index(blocks, true)));
            lines_.add(fmt::format("const int number = step / {};", text_.index(blocks, true)));
        }
        declareAxes(lines_, text_, depth_.taps, "number");
    }

    /// The conditions under which an element exists; empty: always.
    std::string conditionOf(const FactorSide& side) {
        std::string condition;
        const auto add = [&](const std::string& part) {
            condition += (condition.empty() ? "" : " && ") + part;
        };
        const auto rows = extentOf(*side.axes).constant();
        if (!rows || *rows % side.tile != 0)
            add(fmt::format("{}Number < {}s", side.name, side.outer));
        const Index inner = extentOf(depth_.inner);
        if (const auto extent = inner.constant(); !extent || *extent % tile_.depth != 0)
            add(fmt::format("firstDepth + depth < {}", text_.index(inner)));
        if (side.access.guards.empty())
            return condition;
        const CudaText::Values values = text_.values(side.access.guards);
        lines_.addAll(values.statements);
        for (const std::string& value : values.values)
            add(value.find("||") != std::string::npos || value.find('?') != std::string::npos
                    ? "(" + value + ")"
                    : value);
        return condition;
    }

    void writeLoad(const FactorSide& side) {
        // The position in the depth, also where it lies beyond the end.
        if (depth_.inner.size() == 1)
            declareAxes(lines_, text_, depth_.inner, "firstDepth + depth");
        else if (!depth_.inner.empty()) {
            lines_.add("const int place = firstDepth + depth;");
            declareAxes(lines_, text_, depth_.inner, "place");
        }
        const std::string condition = conditionOf(side);
        if (!condition.empty())
            lines_.add(fmt::format("const bool isInside = {};", condition));
        if (isAsync(side)) {
            writeCopy(side, condition.empty());
            return;
        }
        const std::string target =
            fmt::format("{}Next[slot{}]", side.name,
                        side.access.width == 1 ? "" : fmt::format(" * {}", side.access.width));
        if (side.access.width > 1) {
            const std::string source =
                fmt::format("*reinterpret_cast<const float4*>(&{})", elementText(side.access));
            lines_.add(fmt::format("*reinterpret_cast<float4*>(&{}) = {};", target,
                                   condition.empty()
                                       ? source
                                       : "isInside ? " + source +
                                             " : make_float4(0.0f, 0.0f, 0.0f, 0.0f)"));
            return;
        }
        if (condition.empty()) {
            const CudaText::Values value = text_.values({side.access.value});
            lines_.addAll(value.statements);
            lines_.add(fmt::format("{} = {};", target, value.values[0]));
            return;
        }
        lines_.add(fmt::format("{} = 0.0f;", target));
        lines_.open("if (isInside) {");
        const CudaText::Values value = text_.values({side.access.value});
        lines_.addAll(value.statements);
        lines_.add(fmt::format("{} = {};", target, value.values[0]));
        lines_.close();
    }

    std::string elementText(const FactorAccess& access) {
        return fmt::format("{}[{}]", program_.buffers.at(*access.copied).name,
                           text_.index(access.offset));
    }

    void writeCopy(const FactorSide& side, bool isAlways) {
        const std::string to =
            fmt::format("&tile[{}]", placeText(side.layout, side.tile, "depth", side.outer));
        const int bytes = side.access.width * 4;
        const std::string& buffer = program_.buffers.at(*side.access.copied).name;
        const std::string from = elementText(side.access);
        if (isAlways) {
            lines_.add(fmt::format("__pipeline_memcpy_async({}, &{}, {});", to, from, bytes));
            return;
        }
        // Bytes that are not copied become zeros; the address has to be one of the buffer.
        lines_.add(fmt::format("__pipeline_memcpy_async({},", to));
        lines_.add(fmt::format("                        isInside ? &{} : {},", from, buffer));
        lines_.add(fmt::format("                        {0}, isInside ? 0 : {0});", bytes));
    }

    /// Moves what was loaded from registers to shared memory.
    void writeStore(const FactorSide& side, const Share& share) {
        lines_.open(fmt::format("const auto store{} = [&](float* tile) {{", side.title()));
        openSlots(share);
        declareSlot(side, share);
        if (side.access.width == 1) {
            lines_.add(fmt::format("tile[{}] = {}Next[slot];",
                                   placeText(side.layout, side.tile, "depth", side.outer),
                                   side.name));
        } else {
            for (int part = 0; part < side.access.width; ++part)
                lines_.add(fmt::format("tile[{}] = {}Next[slot * {} + {}];",
                                       placeText(side.layout, side.tile,
                                                 fmt::format("(depth + {})", part), side.outer),
                                       side.name, side.access.width, part));
        }
        lines_.close();
        lines_.close("};");
    }

    /// Starts the loads of a step: into shared memory, or into registers.
    void writeFetches(const std::string& step, const std::string& stage) {
        for (const FactorSide* side : {&left_, &right_})
            if (isAsync(*side))
                lines_.add(fmt::format("fetch{0}({1}, {2}Tiles + {3} * {2}Size);", side->title(),
                                       step, side->name, stage));
            else
                lines_.add(fmt::format("fetch{}({});", side->title(), step));
    }
    void writeStores(const std::string& stage) {
        for (const FactorSide* side : {&left_, &right_})
            if (!isAsync(*side))
                lines_.add(fmt::format("store{0}({1}Tiles + {2} * {1}Size);", side->title(),
                                       side->name, stage));
    }

    void writeSteps() {
        const bool async = isAsync(left_) || isAsync(right_);
        const bool staged = !isAsync(left_) || !isAsync(right_);
        lines_.add("");
        lines_.add("// Loads run ahead of the products by all stages but one.");
        lines_.open("for (int step = 0; step < stages - 1; ++step) {");
        lines_.open("if (step < steps) {");
        writeFetches("step", "step");
        writeStores("step");
        lines_.close();
        if (async)
            lines_.add("__pipeline_commit();");
        lines_.close();
        lines_.add("int stage = 0;");
        lines_.open("for (int step = 0; step < steps; ++step) {");
        if (async)
            lines_.add("__pipeline_wait_prior(stages - 2);");
        lines_.add("__syncthreads();");
        lines_.add("const int ahead = stage == 0 ? stages - 1 : stage - 1;");
        lines_.open("if (step + stages - 1 < steps) {");
        writeFetches("step + stages - 1", "ahead");
        lines_.close();
        if (async)
            lines_.add("__pipeline_commit();");
        lines_.add("multiply(leftTiles + stage * leftSize, rightTiles + stage * rightSize);");
        if (staged) {
            lines_.open("if (step + stages - 1 < steps) {");
            writeStores("ahead");
            lines_.close();
        }
        lines_.add("stage = stage == stages - 1 ? 0 : stage + 1;");
        lines_.close();
        lines_.add("");
    }

    /// Whether neighbours in memory of what is stored are rows.
    [[nodiscard]] bool storesRows() const {
        const Store& store = contraction_.computation.stores.at(0);
        const Index offset = flattened(store.position, program_.buffers.at(store.buffer).shape);
        const auto stride = [&](const std::vector<Axis>& axes) {
            const auto by = strideOf(offset, axes.back());
            return by && *by > 0 ? *by : std::numeric_limits<std::int64_t>::max();
        };
        return stride(contraction_.rows) < stride(contraction_.columns);
    }

    [[nodiscard]] int resultPitch() const {
        return (storesRows() ? tile_.rows : tile_.columns) + 4;
    }

    void writeResults() {
        const bool byRows = storesRows();
        lines_.add("// Sums go through shared memory, so that neighbouring threads store "
                   "neighbours.");
        addConstant("pitch", std::to_string(resultPitch()));
        lines_.add("float* const results = reinterpret_cast<float*>(memory);");
        lines_.add("__syncthreads();");
        writeForEachSum(lines_, tile_, left_.layout, right_.layout,
                        byRows ? "results[column * pitch + row] = sum;"
                               : "results[row * pitch + column] = sum;");
        lines_.add("__syncthreads();");
        for (const auto* axes : {&contraction_.rows, &contraction_.columns})
            bindNames(text_, *axes, taken_);
        const FactorSide& inner = byRows ? left_ : right_;
        const FactorSide& outer = byRows ? right_ : left_;
        const int across = std::min(inner.tile, tile_.threads());
        openResultLoop(inner, fmt::format("threadIdx.x % {}", across), across);
        openResultLoop(outer, fmt::format("threadIdx.x / {}", across), tile_.threads() / across);
        lines_.add(
            fmt::format("const float sum = results[{} * pitch + {}];", outer.outer, inner.outer));
        text_.setLeaf([](const analysis::raise::ScalarNode& node) {
            return node.kind == analysis::raise::ScalarNode::Kind::Accumulated
                       ? std::optional<std::string>("sum")
                       : std::nullopt;
        });
        std::vector<Scalar> values;
        for (const Store& store : contraction_.computation.stores)
            values.push_back(store.value);
        const CudaText::Values texts = text_.values(values);
        lines_.addAll(texts.statements);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const Store& store = contraction_.computation.stores[i];
            lines_.add(fmt::format("{} = {};", text_.element(store.buffer, store.position),
                                   text_.stored(store.buffer, texts.values[i])));
        }
        lines_.close();
        lines_.close();
    }

    void openResultLoop(const FactorSide& side, const std::string& first, int stride) {
        lines_.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3}) {{", side.outer, first,
                                side.tile, stride));
        const std::string number = fmt::format("{}Number", side.name);
        lines_.add(fmt::format("const int {} = first{} + {};", number, side.capital, side.outer));
        const auto extent = extentOf(*side.axes).constant();
        if (!extent || *extent % side.tile != 0) {
            lines_.add(fmt::format("if ({} >= {}s)", number, side.outer));
            lines_.add("    break;");
        }
        declareAxes(lines_, text_, *side.axes, number);
    }

    void finish() {
        const int tiles = stages() * (sizeOf(left_.layout, tile_, tile_.rows) +
                                      sizeOf(right_.layout, tile_, tile_.columns));
        const int results = (storesRows() ? tile_.columns : tile_.rows) * resultPitch();
        kernel_.usesTensorCores = tile_.unit != MultiplyUnit::Float32;
        kernel_.schedule = textOf(tile_);
        kernel_.helpers.assign(text_.helpers().begin(), text_.helpers().end());
        if (isAsync(left_) || isAsync(right_))
            kernel_.headers.push_back("cuda_pipeline.h");
        kernel_.blocks[0] = extentOf(contraction_.batches) *
                            roundedUpQuotient(extentOf(contraction_.rows), tile_.rows) *
                            roundedUpQuotient(extentOf(contraction_.columns), tile_.columns);
        kernel_.threads[0] = static_cast<std::size_t>(tile_.threads());
        kernel_.sharedBytes = static_cast<std::size_t>(4 * std::max(tiles, results));
        kernel_.definition =
            definitionText(program_, kernel_, lines_.text(), multiplyFunctions(tile_.unit));
    }

    Program program_;
    const Contraction& contraction_;
    ContractionTile tile_;
    Kernel kernel_;
    CudaText text_;
    DepthOrder depth_;
    FactorSide left_;
    FactorSide right_;
    std::set<std::string> taken_;
    CodeLines lines_;
};

} // namespace

Kernel tiledContraction(const Program& program, const Contraction& contraction,
                        const ContractionTile& tile) {
    return TiledContraction(program, contraction, tile).run();
}

std::expected<Kernel, std::string>
contractionKernel(const Program& program, const analysis::raise::Computation& computation,
                  MultiplyUnit unit) {
    const auto contraction = contractionOf(program, computation);
    if (!contraction)
        return std::unexpected(contraction.error());
    return tiledContraction(program, *contraction, tilesFor(*contraction, unit).front());
}

} // namespace kernelskill::engine::graph
