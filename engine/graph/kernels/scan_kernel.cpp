#include "engine/graph/kernels/scan_kernel.h"

#include "analysis/raise/merged_axes.h"
#include "engine/graph/kernels/cuda_text.h"
#include "engine/graph/kernels/kernel_draft.h"

#include <spdlog/fmt/fmt.h>

#include <set>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::Computation;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::Reduction;
using analysis::raise::Scalar;

constexpr std::size_t threadsOfScan = 256;
constexpr std::size_t elementsOfThread = 4;
constexpr std::size_t elementsOfTile = threadsOfScan * elementsOfThread;

class Scan {
public:
    Scan(const Program& program, const Computation& computation)
        : program_(program), axes_(program.axes),
          computation_(withMergedAxes(program, computation, axes_)),
          along_(computation_.axes[*computation_.scanned]),
          kernel_(draftOf(program, {&computation_, 1})),
          text_(program, indexWidthOf(program, computation_)) {
        rows_ = computation_.axes;
        rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(*computation_.scanned));
        taken_ = namesOf(program, kernel_);
        for (const char* name : {"at", "before", "total", "carry", "first", "tile", "values"})
            taken_.insert(name);
        bindNames(text_, rows_, taken_);
        alongName_ = freshName(along_.name, taken_);
        text_.bind(along_.id, alongName_);
    }

    Kernel run() {
        const Reduction& reduction = computation_.reductions[0];
        const bool isOfBlock = computation_.reductions.size() == 1 &&
                               *computation_.scanned + 1 == computation_.axes.size() &&
                               !findsPlace(reduction.reducer);
        if (isOfBlock)
            writeOfBlock(reduction);
        else
            writeOfThread();
        kernel_.helpers.assign(helpers_.begin(), helpers_.end());
        kernel_.helpers.insert(kernel_.helpers.end(), text_.helpers().begin(),
                               text_.helpers().end());
        return std::move(kernel_);
    }

private:
    Index rowsInAll() const { return elementsOf(analysis::raise::extentsOf(rows_)); }

    void finish(const Index& blocks) {
        kernel_.blocks[0] = blocks;
        kernel_.threads[0] = threadsOfScan;
        kernel_.definition = definitionText(program_, kernel_, lines_.text());
    }

    void declareRow(const std::string& row) { declareAxes(lines_, text_, rows_, row); }

    void writeOfThread() {
        kernel_.schedule = "a thread runs along each row";
        const std::string_view type = spelling(text_.width());
        lines_.add(
            fmt::format("const {} row = static_cast<long long>(blockIdx.x) * {} + threadIdx.x;",
                        type, threadsOfScan));
        lines_.open(fmt::format("if (row >= {})", text_.index(rowsInAll())));
        lines_.add("return;");
        lines_.close("");
        declareRow("row");
        const auto& reductions = computation_.reductions;
        std::vector<Scalar> elements;
        for (std::size_t i = 0; i < reductions.size(); ++i) {
            elements.push_back(reductions[i].element);
            const ScalarKind kind = computedType(reductions[i].type);
            lines_.add(fmt::format("{} acc{} = {};", analysis::raise::spelling(kind), i,
                                   neutralText(reductions[i].reducer, kind)));
        }
        lines_.open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1}) {{", spelling(text_.width()),
                                alongName_, text_.index(*along_.extent)));
        const CudaText::Values values = text_.values(elements);
        lines_.addAll(values.statements);
        for (std::size_t i = 0; i < reductions.size(); ++i) {
            const std::string combined = text_.combined(reductions[i].reducer, reductions[i].type,
                                                        fmt::format("acc{}", i), values.values[i]);
            lines_.add(fmt::format("acc{} = {};", i, combined));
        }
        addStores(lines_, text_, computation_.stores);
        lines_.close();
        finish(roundedUpQuotient(rowsInAll(), threadsOfScan));
    }

    void writeOfBlock(const Reduction& reduction) {
        kernel_.schedule = fmt::format("a block of {} threads scans a row, {} elements at a time",
                                       threadsOfScan, elementsOfTile);
        helpers_.insert("scanBlock");
        helpers_.insert(std::string(functorOf(reduction.reducer)));
        const ScalarKind kind = computedType(reduction.type);
        const std::string_view value = analysis::raise::spelling(kind);
        const std::string_view type = spelling(text_.width());
        const std::string neutral = neutralText(reduction.reducer, kind);
        const std::string combine = fmt::format("{}{{}}", functorOf(reduction.reducer));
        const std::string& along = alongName_;
        const std::string extent = text_.index(*along_.extent, true);
        lines_.add(fmt::format("const {} row = blockIdx.x;", type));
        declareRow("row");
        lines_.add(fmt::format("{} carry = {};", value, neutral));
        lines_.add("// Neighbouring threads access neighbours in memory; in the tile, a thread has "
                   "neighbours of its own.");
        lines_.add(fmt::format("__shared__ {} tile[{}];", value, elementsOfTile));
        lines_.open(fmt::format("for ({} first = 0; first < {}; first += {}) {{", type, extent,
                                elementsOfTile));
        openAccesses(along);
        const CudaText::Values values = text_.values({reduction.element});
        lines_.add(fmt::format("tile[at] = {};", neutral));
        lines_.open(fmt::format("if ({} < {}) {{", along, extent));
        lines_.addAll(values.statements);
        lines_.add(fmt::format("tile[at] = {};", values.values[0]));
        lines_.close();
        lines_.close();
        lines_.add("__syncthreads();");
        lines_.add(fmt::format("{} values[{}];", value, elementsOfThread));
        openOwn();
        lines_.add(fmt::format("values[j] = tile[threadIdx.x * {} + j];", elementsOfThread));
        lines_.open("if (j > 0)");
        lines_.add(fmt::format("values[j] = {}(values[j - 1], values[j]);", combine));
        lines_.close("");
        lines_.close();
        lines_.add(fmt::format("{} total;", value));
        lines_.add(fmt::format("const {} before = {}(carry, scanBlock<{}>(values[{}], {}, {}, "
                               "total));",
                               value, combine, threadsOfScan, elementsOfThread - 1,
                               fmt::format("{}({})", value, neutral), combine));
        openOwn();
        lines_.add(fmt::format("tile[threadIdx.x * {} + j] = {}(before, values[j]);",
                               elementsOfThread, combine));
        lines_.close();
        lines_.add("__syncthreads();");
        openAccesses(along);
        lines_.open(fmt::format("if ({} < {}) {{", along, extent));
        lines_.add(fmt::format("const {} acc0 = tile[at];", value));
        addStores(lines_, text_, computation_.stores);
        lines_.close();
        lines_.close();
        lines_.add(fmt::format("carry = {}(carry, total);", combine));
        lines_.close();
        finish(rowsInAll());
    }

    /// The loop over the elements that a thread scans.
    void openOwn() {
        lines_.add("#pragma unroll");
        lines_.open(fmt::format("for (int j = 0; j < {}; ++j) {{", elementsOfThread));
    }
    /// The loop over the elements that a thread loads or stores; `at` is an element's place in the
    /// tile. A thread has the same places in each tile, so no barrier is needed between two tiles.
    void openAccesses(const std::string& along) {
        openOwn();
        lines_.add(fmt::format("const int at = j * {} + threadIdx.x;", threadsOfScan));
        lines_.add(fmt::format("const {} {} = first + at;", spelling(text_.width()), along));
    }

    const Program& program_;
    std::uint32_t axes_;
    Computation computation_;
    Axis along_;
    std::string alongName_;
    std::vector<Axis> rows_;
    Kernel kernel_;
    CudaText text_;
    std::set<std::string> taken_;
    std::set<std::string> helpers_;
    CodeLines lines_;
};

} // namespace

Kernel scanKernel(const Program& program, const Computation& computation) {
    return Scan(program, computation).run();
}

} // namespace kernelskill::engine::graph
