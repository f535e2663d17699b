#include "engine/graph/kernels/contraction_results.h"

#include "engine/graph/kernels/vector_accesses.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::Index;
using analysis::raise::Scalar;
using analysis::raise::Store;

/// The most residues of a stride that threads store one behind the other.
constexpr std::int64_t mostBetween = 8;

} // namespace

bool ResultWriter::storesRows() const {
    const Index offset = offsetOf(stores().front());
    const auto stride = [&](const std::vector<Axis>& axes) {
        const auto by = strideOf(offset, axes.back());
        return by && *by > 0 ? *by : std::numeric_limits<std::int64_t>::max();
    };
    const std::int64_t rows = stride(contraction_.rows);
    const std::int64_t columns = stride(contraction_.columns);
    const auto residues = contraction_.columns.back().extent->constant();
    return rows < columns || (residues && *residues <= mostBetween && rows == columns * *residues);
}

ResultLayout ResultWriter::layout() const {
    return {tile_, left_.layout, right_.layout, storesRows()};
}

void ResultWriter::write(CodeLines& lines, std::set<std::string>& taken) const {
    const bool byRows = storesRows();
    lines.add("// Sums go through shared memory, so that neighbouring threads store "
              "neighbours.");
    lines.add("float* const results = reinterpret_cast<float*>(memory);");
    lines.add("__syncthreads();");
    layout().write(lines);
    lines.add("__syncthreads();");
    for (const auto* axes : {&contraction_.rows, &contraction_.columns})
        bindNames(text_, *axes, taken);
    const FactorSide& inner = byRows ? left_ : right_;
    const FactorSide& outer = byRows ? right_ : left_;
    if (storesFour())
        writeFours(lines, inner, outer);
    else
        writeSingles(lines, inner, outer);
}

void ResultWriter::writeSingles(CodeLines& lines, const FactorSide& inner,
                                const FactorSide& outer) const {
    // Residues of an outer axis may lie between the inner one's neighbours.
    const int between = elementsBetween(inner, outer);
    const int across = std::min(inner.tile * between, tile_.threads());
    const std::string lane = fmt::format("threadIdx.x % {}", across);
    openLoop(lines, inner, between == 1 ? lane : fmt::format("{} / {}", lane, between),
             across / between);
    const std::string line = fmt::format("threadIdx.x / {}", across);
    openLoop(lines, outer,
             between == 1 ? line : fmt::format("{0} * {1} + threadIdx.x % {1}", line, between),
             tile_.threads() / across * between);
    lines.add(fmt::format("const float sum = results[{}];", layout().placeText("row", "column")));
    declareAxes(lines, text_, outer.axes, outer.name + "Number");
    const CudaText::Values values = storedValues("sum");
    lines.addAll(values.statements);
    for (std::size_t i = 0; i < stores().size(); ++i)
        lines.add(fmt::format("{} = {};", text_.element(stores()[i].buffer, stores()[i].position),
                              text_.stored(stores()[i].buffer, values.values[i])));
    lines.close();
    lines.close();
}

void ResultWriter::writeFours(CodeLines& lines, const FactorSide& inner,
                              const FactorSide& outer) const {
    const int across = std::min(inner.tile / 4, tile_.threads());
    openLoop(lines, inner, fmt::format("threadIdx.x % {} * 4", across), across * 4);
    openLoop(lines, outer, fmt::format("threadIdx.x / {}", across), tile_.threads() / across);
    declareAxes(lines, text_, outer.axes, outer.name + "Number");
    const Axis& axis = inner.axes.back();
    const std::string first = text_.index(Index::of(axis));
    lines.add(fmt::format("const float4 quad = *reinterpret_cast<const float4*>(&results[{}]);",
                          layout().placeText("row", "column")));
    lines.add("const float four[4] = {quad.x, quad.y, quad.z, quad.w};");
    for (std::size_t i = 0; i < stores().size(); ++i)
        lines.add(fmt::format("float stored{}[4];", i));
    lines.add("#pragma unroll");
    lines.open("for (int i = 0; i < 4; ++i) {");
    text_.bind(axis.id, fmt::format("({} + i)", first));
    const CudaText::Values values = storedValues("four[i]");
    lines.addAll(values.statements);
    for (std::size_t i = 0; i < stores().size(); ++i)
        lines.add(fmt::format("stored{}[i] = {};", i, values.values[i]));
    lines.close();
    text_.bind(axis.id, first);
    for (std::size_t i = 0; i < stores().size(); ++i) {
        lines.add(fmt::format("__stwb(reinterpret_cast<float4*>(&{}),",
                              text_.element(stores()[i].buffer, stores()[i].position)));
        lines.add(fmt::format("       make_float4(stored{0}[0], stored{0}[1], stored{0}[2], "
                              "stored{0}[3]));",
                              i));
    }
    lines.close();
    lines.close();
}

Index ResultWriter::offsetOf(const Store& store) const {
    return flattened(store.position, text_.program().buffers.at(store.buffer).shape);
}

CudaText::Values ResultWriter::storedValues(const std::string& sum) const {
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

bool ResultWriter::storesFour() const {
    const std::vector<Axis>& axes = storesRows() ? contraction_.rows : contraction_.columns;
    const auto extent = axes.back().extent->constant();
    return extent && *extent % 4 == 0 && std::ranges::all_of(stores(), [&](const Store& store) {
               return text_.program().buffers.at(store.buffer).element ==
                          analysis::ScalarKind::Float &&
                      isAlignedAlong(offsetOf(store), axes.back(), 4);
           });
}

int ResultWriter::elementsBetween(const FactorSide& inner, const FactorSide& outer) const {
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

void ResultWriter::openLoop(CodeLines& lines, const FactorSide& side, const std::string& first,
                            int stride) const {
    lines.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3}) {{", side.outer, first,
                           side.tile, stride));
    const std::string number = fmt::format("{}Number", side.name);
    lines.add(fmt::format("const int {} = first{} + {};", number, side.capital, side.outer));
    const auto extent = extentOf(side.axes).constant();
    if (!extent || *extent % side.tile != 0) {
        lines.add(fmt::format("if ({} >= {}s)", number, side.outer));
        lines.add("    break;");
    }
    if ((side.name == "left") == storesRows())
        declareAxes(lines, text_, side.axes, number);
}

} // namespace kernelskill::engine::graph
