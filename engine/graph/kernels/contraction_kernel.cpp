#include "engine/graph/kernels/contraction_kernel.h"

#include "engine/graph/kernels/contraction_fetch.h"
#include "engine/graph/kernels/contraction_multiply.h"
#include "engine/graph/kernels/contraction_results.h"
#include "engine/graph/kernels/kernel_draft.h"
#include "engine/graph/kernels/needed_tiles.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
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

std::string namesOf(const std::vector<Axis>& axes) {
    std::string names;
    for (const Axis& axis : axes)
        names += (names.empty() ? "" : ", ") + axis.name;
    return names;
}

/// Whether the text declares that name itself, so that no buffer may have it.
bool isOwnName(const std::string& name) {
    constexpr std::string_view names =
        " addStepSums ahead band bandRows bandTiles batch column columns columnsOfThread "
        "columnTiles depth fetchLeft fetchRight firstColumn firstDepth firstOf "
        "firstProduct firstRow four from group i into isInside isLoaded j laneColumn "
        "laneRow left leftDepth leftGroups leftNext leftNumber leftPart leftRow "
        "leftSize leftTiles load lower member memory mostOf multiply multiplyAdd next "
        "Pair pairOf part pitch place quad restOf results right rightColumn rightDepth "
        "rightGroups rightNext rightNumber rightPair rightPart rightSize rightTiles "
        "roundedToTF32 row rows rowsOfThread rowTiles secondOf slot source "
        "SplitPair splitPair stage stages step steps stepSums stored0 stored1 storeLeft "
        "storeRight sum sums tap tile tileColumns tileDepth tileRows upper warpColumn "
        "warpColumns warpRow warpRows warpsAcross ";
    return names.contains(" " + name + " ");
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
        for (const KernelParameter& parameter : kernel_.parameters)
            taken_.insert(program_.buffers.at(parameter.buffer).name);
        taken_.insert(kernel_.symbols.begin(), kernel_.symbols.end());
        bindNames(text_, contraction.batches, taken_);
        bindNames(text_, depth_.taps, taken_);
        bindNames(text_, depth_.inner, taken_);
        left_ = side("left", contraction.left, contraction.rows, tile.rows);
        right_ = side("right", contraction.right, contraction.columns, tile.columns);
        // Kernels whose terms are many are the same, whichever sums were asked for.
        tile_.sumsInSteps =
            tile.unit == MultiplyUnit::BFloat16Split && splitSums() == SplitSums::Step;
    }

    Kernel run() {
        writeConstants();
        writePlace();
        for (const FactorSide* side : {&left_, &right_})
            FactorFetch(text_, tile_, depth_, *side).write(lines_, taken_);
        writeMultiply(lines_, tile_, left_.layout, right_.layout, splitSums());
        writeSteps();
        const ResultWriter results(text_, contraction_, tile_, left_, right_);
        results.write(lines_, taken_);
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
    [[nodiscard]] SplitSums splitSums() const {
        const auto steps = stepsOf().constant();
        return sumsOf(tile_, steps ? std::optional(*steps * tile_.depth) : std::nullopt);
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

    /// Computes which tile is the block's. Blocks that run at once share rows and columns.
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
        const auto needed = neededTiles(contraction_, tile_);
        lines_.add("");
        if (needed) {
            std::string condition;
            for (const Index& excess : *needed)
                condition +=
                    fmt::format("{}{} <= 0", condition.empty() ? "" : " || ", text_.index(excess));
            lines_.add("// Other tiles have no result that depends on products.");
            lines_.open(fmt::format("if ({}) {{", condition));
        }
        lines_.add("// Loads run ahead of the products by all stages but one.");
        lines_.open("for (int step = 0; step < stages - 1; ++step) {");
        lines_.open("if (step < steps) {");
        writeFetches("step", "step");
        writeStores("step");
        lines_.close();
        if (async)
            lines_.add("__pipeline_commit();");
        lines_.close();
        switch (tile_.unit) {
        case MultiplyUnit::Float32:
            writeFloatSteps();
            break;
        case MultiplyUnit::TF32:
        case MultiplyUnit::TF32Split:
            writeTf32Steps();
            break;
        case MultiplyUnit::BFloat16Split:
            writeBFloat16Steps();
            break;
        }
        if (needed)
            lines_.close();
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

    void fetchAhead(const std::string& ahead = "stage == 0 ? stages - 1 : stage - 1") {
        lines_.add(fmt::format("const int ahead = {};", ahead));
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

    void multiplyTiles() {
        lines_.add("multiply(leftTiles + stage * leftSize, rightTiles + stage * rightSize);");
    }

    void writeFloatSteps() {
        lines_.add("int stage = 0;");
        openSteps();
        awaitStage();
        fetchAhead();
        multiplyTiles();
        storeAhead();
        lines_.add("stage = stage == stages - 1 ? 0 : stage + 1;");
        lines_.close();
    }

    /// The stage follows from the step, which spares a register: all are taken.
    void writeBFloat16Steps() {
        openSteps();
        awaitStage();
        lines_.add("const int stage = step % stages;");
        fetchAhead("(step + stages - 1) % stages");
        multiplyTiles();
        storeAhead();
        lines_.close();
    }

    void writeTf32Steps() {
        lines_.add("int stage = 0;");
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

    void finish() {
        const int tiles = stages() * (sizeOf(left_.layout, tile_, tile_.rows) +
                                      sizeOf(right_.layout, tile_, tile_.columns));
        const int results =
            ResultWriter(text_, contraction_, tile_, left_, right_).layout().floats();
        kernel_.usesTensorCores = tile_.unit != MultiplyUnit::Float32;
        kernel_.schedule = textOf(tile_);
        kernel_.helpers.assign(text_.helpers().begin(), text_.helpers().end());
        if (left_.isAsync() || right_.isAsync())
            kernel_.headers.push_back("cuda_pipeline.h");
        kernel_.blocks[0] = extentOf(contraction_.batches) *
                            roundedUpQuotient(extentOf(contraction_.rows), tile_.rows) *
                            roundedUpQuotient(extentOf(contraction_.columns), tile_.columns);
        for (const auto* axes : {&contraction_.rows, &contraction_.columns, &contraction_.depth})
            kernel_.narrow.push_back(extentOf(*axes));
        kernel_.threads[0] = static_cast<std::size_t>(tile_.threads());
        kernel_.sharedBytes = static_cast<std::size_t>(4 * std::max(tiles, results));
        kernel_.definition = definitionText(
            program_, kernel_, lines_.text(), multiplyFunctions(tile_.unit, splitSums()),
            tile_.unit == MultiplyUnit::BFloat16Split ? tile_.blocks : 0);
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

} // namespace kernelskill::engine::graph
