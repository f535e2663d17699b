#include "engine/graph/kernels/contraction_kernel.h"

#include "engine/graph/kernels/contraction_fetch.h"
#include "engine/graph/kernels/contraction_multiply.h"
#include "engine/graph/kernels/kernel_draft.h"
#include "engine/graph/kernels/vector_accesses.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::Buffer;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::Scalar;
using analysis::raise::Store;

std::string namesOf(const std::vector<Axis>& axes) {
    std::string names;
    for (const Axis& axis : axes)
        names += (names.empty() ? "" : ", ") + axis.name;
    return names;
}

/// Whether the text declares that name itself, so that no buffer may have it.
bool isOwnName(const std::string& name) {
    constexpr std::string_view names =
        " addStepSums stored0 stored1 ahead band bandRows bandTiles batch column columns "
        "columnTiles "
        "columnsOfThread depth four fetchLeft fetchRight firstColumn firstDepth firstRow from "
        "group i "
        "into isInside isLoaded j laneColumn laneRow left leftDepth leftGroups leftNext "
        "leftNumber leftPart leftRow leftSize leftTiles load lower member memory multiply "
        "multiplyAdd next Pair pairOf part pitch place quad results right rightColumn rightDepth "
        "rightGroups rightNext rightNumber rightPair rightPart rightSize rightTiles "
        "roundedToTF32 row rows rowsOfThread rowTiles slot source SplitPair splitPair stage "
        "stages step steps stepSums storeLeft storeRight sum sums tap tile tileColumns tileDepth "
        "tileRows upper warpColumn warpColumns warpRow warpRows warpsAcross ";
    return names.contains(" " + name + " ");
}

/// The most residues of a stride that threads store one behind the other.
constexpr std::int64_t mostBetween = 8;

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
        for (const KernelParameter& parameter : kernel_.parameters)
            taken_.insert(program_.buffers.at(parameter.buffer).name);
        taken_.insert(kernel_.symbols.begin(), kernel_.symbols.end());
        bindNames(text_, contraction.batches, taken_);
        bindNames(text_, depth_.taps, taken_);
        bindNames(text_, depth_.inner, taken_);
        left_ = side("left", contraction.left, contraction.rows, tile.rows);
        right_ = side("right", contraction.right, contraction.columns, tile.columns);
    }

    Kernel run() {
        writeConstants();
        writePlace();
        for (const FactorSide* side : {&left_, &right_})
            FactorFetch(text_, tile_, depth_, *side).write(lines_, taken_);
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
            if (isOwnName(buffer.name))
                buffer.name += "_tensor";
        return result;
    }

    FactorSide side(const std::string& name, const Scalar& factor, const std::vector<Axis>& axes,
                    int tile) const {
        FactorSide result;
        result.name = name;
        result.title = name == "left" ? "Left" : "Right";
        result.outer = name == "left" ? "row" : "column";
        result.capital = name == "left" ? "Row" : "Column";
        result.axes = axes;
        result.tile = tile;
        result.access = accessOf(program_, factor, axes, depth_);
        result.layout = layoutOf(tile_, result.access, tile);
        return result;
    }

    [[nodiscard]] Index stepsOf() const {
        return extentOf(depth_.taps) * roundedUpQuotient(extentOf(depth_.inner), tile_.depth);
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
        addExtent("steps", stepsOf());
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

    /// Starts the loads of a step: into shared memory, or into registers.
    void writeFetches(const std::string& step, const std::string& stage) {
        for (const FactorSide* side : {&left_, &right_})
            if (side->isAsync())
                lines_.add(fmt::format("fetch{0}({1}, {2}Tiles + {3} * {2}Size);", side->title,
                                       step, side->name, stage));
            else
                lines_.add(fmt::format("fetch{}({});", side->title, step));
    }
    void writeStores(const std::string& stage) {
        for (const FactorSide* side : {&left_, &right_})
            if (!side->isAsync())
                lines_.add(fmt::format("store{0}({1}Tiles + {2} * {1}Size);", side->title,
                                       side->name, stage));
    }

    /// Whether every step has a text of its own, so that its place in the depth is a number.
    [[nodiscard]] bool isUnrolled() const {
        constexpr std::int64_t mostSteps = 24;
        const auto steps = stepsOf().constant();
        return depth_.inner.size() > 1 && steps && *steps <= mostSteps;
    }

    void writeSteps() {
        const bool async = left_.isAsync() || right_.isAsync();
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
        if (tile_.unit == MultiplyUnit::Float32)
            writeFloatSteps();
        else
            writeTensorSteps();
        lines_.add("");
    }

    void awaitStage() {
        if (left_.isAsync() || right_.isAsync())
            lines_.add("__pipeline_wait_prior(stages - 2);");
        lines_.add("__syncthreads();");
    }

    void openSteps() {
        if (isUnrolled())
            lines_.add("#pragma unroll");
        lines_.open("for (int step = 0; step < steps; ++step) {");
    }

    void fetchAhead() {
        lines_.add("const int ahead = stage == 0 ? stages - 1 : stage - 1;");
        lines_.open("if (step + stages - 1 < steps) {");
        writeFetches("step + stages - 1", "ahead");
        lines_.close();
        if (left_.isAsync() || right_.isAsync())
            lines_.add("__pipeline_commit();");
    }
    void storeAhead() {
        if (left_.isAsync() && right_.isAsync())
            return;
        lines_.open("if (step + stages - 1 < steps) {");
        writeStores("ahead");
        lines_.close();
    }

    void writeFloatSteps() {
        openSteps();
        awaitStage();
        fetchAhead();
        lines_.add("multiply(leftTiles + stage * leftSize, rightTiles + stage * rightSize);");
        storeAhead();
        lines_.add("stage = stage == stages - 1 ? 0 : stage + 1;");
        lines_.close();
    }

    void writeTensorSteps() {
        awaitStage();
        lines_.add("load(leftTiles, rightTiles, 0, 0);");
        openSteps();
        fetchAhead();
        lines_.add("const int next = stage == stages - 1 ? 0 : stage + 1;");
        lines_.add("#pragma unroll");
        lines_.open("for (int depth = 0; depth < tileDepth; depth += 8) {");
        lines_.open("if (depth + 8 < tileDepth) {");
        lines_.add("load(leftTiles + stage * leftSize, rightTiles + stage * rightSize, depth + 8,");
        lines_.add("     (depth / 8 + 1) % 2);");
        lines_.close();
        lines_.open("if (depth + 8 == tileDepth && step + 1 < steps) {");
        storeAhead();
        awaitStage();
        lines_.add("load(leftTiles + next * leftSize, rightTiles + next * rightSize, 0, 0);");
        lines_.close();
        lines_.add("multiply(depth / 8 % 2);");
        lines_.close();
        if (tile_.unit == MultiplyUnit::TF32Split)
            lines_.add("addStepSums();");
        lines_.add("stage = next;");
        lines_.close();
    }

    /// Whether neighbours in memory of what is stored are rows.
    [[nodiscard]] bool storesRows() const {
        const Index offset = offsetOf(stores().front());
        const auto stride = [&](const std::vector<Axis>& axes) {
            const auto by = strideOf(offset, axes.back());
            return by && *by > 0 ? *by : std::numeric_limits<std::int64_t>::max();
        };
        const std::int64_t rows = stride(contraction_.rows);
        const std::int64_t columns = stride(contraction_.columns);
        const auto residues = contraction_.columns.back().extent->constant();
        return rows < columns ||
               (residues && *residues <= mostBetween && rows == columns * *residues);
    }

    [[nodiscard]] ResultLayout resultLayout() const {
        return {tile_, left_.layout, right_.layout, storesRows()};
    }

    void writeResults() {
        const bool byRows = storesRows();
        lines_.add("// Sums go through shared memory, so that neighbouring threads store "
                   "neighbours.");
        lines_.add("float* const results = reinterpret_cast<float*>(memory);");
        lines_.add("__syncthreads();");
        resultLayout().write(lines_);
        lines_.add("__syncthreads();");
        for (const auto* axes : {&contraction_.rows, &contraction_.columns})
            bindNames(text_, *axes, taken_);
        const FactorSide& inner = byRows ? left_ : right_;
        const FactorSide& outer = byRows ? right_ : left_;
        if (storesFour())
            writeFours(inner, outer);
        else
            writeSingles(inner, outer);
    }

    void writeSingles(const FactorSide& inner, const FactorSide& outer) {
        // Residues of an outer axis may lie between the inner one's neighbours.
        const int between = elementsBetween(inner, outer);
        const int across = std::min(inner.tile * between, tile_.threads());
        const std::string lane = fmt::format("threadIdx.x % {}", across);
        openResultLoop(inner, between == 1 ? lane : fmt::format("{} / {}", lane, between),
                       across / between);
        const std::string line = fmt::format("threadIdx.x / {}", across);
        openResultLoop(outer,
                       between == 1 ? line
                                    : fmt::format("{0} * {1} + threadIdx.x % {1}", line, between),
                       tile_.threads() / across * between);
        lines_.add(fmt::format("const float sum = results[{}];",
                               resultLayout().placeText("row", "column")));
        declareAxes(lines_, text_, outer.axes, outer.name + "Number");
        const CudaText::Values values = storedValues("sum");
        lines_.addAll(values.statements);
        for (std::size_t i = 0; i < stores().size(); ++i)
            lines_.add(fmt::format("{} = {};",
                                   text_.element(stores()[i].buffer, stores()[i].position),
                                   text_.stored(stores()[i].buffer, values.values[i])));
        lines_.close();
        lines_.close();
    }

    /// Stores four neighbours at a time.
    void writeFours(const FactorSide& inner, const FactorSide& outer) {
        const int across = std::min(inner.tile / 4, tile_.threads());
        openResultLoop(inner, fmt::format("threadIdx.x % {} * 4", across), across * 4);
        openResultLoop(outer, fmt::format("threadIdx.x / {}", across), tile_.threads() / across);
        declareAxes(lines_, text_, outer.axes, outer.name + "Number");
        const Axis& axis = inner.axes.back();
        const std::string first = text_.index(Index::of(axis));
        lines_.add(fmt::format("const float* const four = &results[{}];",
                               resultLayout().placeText("row", "column")));
        for (std::size_t i = 0; i < stores().size(); ++i)
            lines_.add(fmt::format("float4 stored{};", i));
        lines_.add("#pragma unroll");
        lines_.open("for (int i = 0; i < 4; ++i) {");
        text_.bind(axis.id, fmt::format("({} + i)", first));
        const CudaText::Values values = storedValues("four[i]");
        lines_.addAll(values.statements);
        for (std::size_t i = 0; i < stores().size(); ++i)
            lines_.add(fmt::format("(&stored{}.x)[i] = {};", i, values.values[i]));
        lines_.close();
        text_.bind(axis.id, first);
        for (std::size_t i = 0; i < stores().size(); ++i)
            lines_.add(fmt::format("*reinterpret_cast<float4*>(&{}) = stored{};",
                                   text_.element(stores()[i].buffer, stores()[i].position), i));
        lines_.close();
        lines_.close();
    }

    [[nodiscard]] const std::vector<Store>& stores() const {
        return contraction_.computation.stores;
    }
    [[nodiscard]] Index offsetOf(const Store& store) const {
        return flattened(store.position, program_.buffers.at(store.buffer).shape);
    }

    /// What the stores make of the sum, which is that text.
    CudaText::Values storedValues(const std::string& sum) {
        text_.setLeaf([sum](const analysis::raise::ScalarNode& node) {
            return node.kind == analysis::raise::ScalarNode::Kind::Accumulated
                       ? std::optional<std::string>(sum)
                       : std::nullopt;
        });
        std::vector<Scalar> values;
        for (const Store& store : stores())
            values.push_back(store.value);
        return text_.values(values);
    }

    /// Whether every store writes four neighbours at multiples of 16 bytes.
    [[nodiscard]] bool storesFour() const {
        const std::vector<Axis>& axes = storesRows() ? contraction_.rows : contraction_.columns;
        const auto extent = axes.back().extent->constant();
        return extent && *extent % 4 == 0 && std::ranges::all_of(stores(), [&](const Store& store) {
                   return program_.buffers.at(store.buffer).element ==
                              analysis::ScalarKind::Float &&
                          isAlignedAlong(offsetOf(store), axes.back(), 4);
               });
    }

    /// How many elements of the last outer axis lie between two neighbours of the inner one.
    [[nodiscard]] int elementsBetween(const FactorSide& inner, const FactorSide& outer) const {
        const Index offset = offsetOf(stores().front());
        const auto extent = outer.axes.back().extent->constant();
        const bool isBetween = extent && *extent <= mostBetween && outer.tile % *extent == 0 &&
                               (tile_.threads() % (*extent * inner.tile) == 0 ||
                                (inner.tile * *extent) % tile_.threads() == 0) &&
                               tile_.threads() % *extent == 0 &&
                               strideOf(offset, outer.axes.back()) == 1 &&
                               strideOf(offset, inner.axes.back()) == *extent;
        return isBetween ? static_cast<int>(*extent) : 1;
    }

    /// The loop over the rows or columns that a thread stores; those of the inner side are taken
    /// apart here.
    void openResultLoop(const FactorSide& side, const std::string& first, int stride) {
        lines_.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3}) {{", side.outer, first,
                                side.tile, stride));
        const std::string number = fmt::format("{}Number", side.name);
        lines_.add(fmt::format("const int {} = first{} + {};", number, side.capital, side.outer));
        const auto extent = extentOf(side.axes).constant();
        if (!extent || *extent % side.tile != 0) {
            lines_.add(fmt::format("if ({} >= {}s)", number, side.outer));
            lines_.add("    break;");
        }
        if ((side.name == "left") == storesRows())
            declareAxes(lines_, text_, side.axes, number);
    }

    void finish() {
        const int tiles = stages() * (sizeOf(left_.layout, tile_, tile_.rows) +
                                      sizeOf(right_.layout, tile_, tile_.columns));
        const int results = resultLayout().floats();
        kernel_.usesTensorCores = tile_.unit != MultiplyUnit::Float32;
        kernel_.schedule = textOf(tile_);
        kernel_.helpers.assign(text_.helpers().begin(), text_.helpers().end());
        if (left_.isAsync() || right_.isAsync())
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
