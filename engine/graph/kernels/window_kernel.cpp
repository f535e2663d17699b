#include "engine/graph/kernels/window_kernel.h"

#include "analysis/raise/merged_axes.h"
#include "engine/graph/kernels/kernel_draft.h"
#include "engine/graph/kernels/window_reads.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
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
constexpr std::int64_t results = 4; ///< The number of results that a thread computes.

std::int64_t extentOf(const Axis& axis) {
    return *axis.extent->constant();
}

/// Returns the number of places that the windows of a thread's results reach.
std::int64_t reachOf(const WindowAxis& axis) {
    return axis.stride * (results - 1) + axis.dilation * (extentOf(axis.window) - 1) + 1;
}

/// Finds the axis along which the windows of a thread's results share most.
std::optional<WindowReads> sharedReads(const Computation& computation, std::uint32_t& axes) {
    constexpr double fewest = 1.5; // The min number of windows' elements that a place stands for.
    std::optional<WindowReads> best;
    double most = fewest;
    for (WindowReads& reads : windowReads(computation, axes)) {
        const WindowAxis& axis = reads.axis;
        if (axis.results.id == computation.axes.back().id || extentOf(axis.results) < results)
            continue;
        const auto shared = static_cast<double>(results * extentOf(axis.window)) /
                            static_cast<double>(reachOf(axis));
        if (shared < most)
            continue;
        most = shared;
        best = std::move(reads);
    }
    return best;
}

class WindowWriter {
public:
    WindowWriter(const Program& program, Computation computation, WindowReads windows)
        : program_(program), computation_(std::move(computation)), windows_(std::move(windows)),
          kernel_(draftOf(program, {&computation_, 1})),
          text_(program, indexWidthOf(program, computation_)) {
        std::set<std::string> taken = namesOf(program, kernel_);
        bindNames(text_, computation_.axes, taken);
        bindNames(text_, computation_.reduced, taken);
        bindNames(text_, {windows_.axis.places}, taken);
        first_ = freshName("first_" + nameOf(windows_.axis.results), taken);
        place_ = freshName("place", taken);
        for (std::size_t i = 0; i < windows_.reads.size(); ++i)
            arrays_.push_back(freshName(i == 0 ? "reach" : fmt::format("reach{}", i), taken));
        for (const Axis& axis : computation_.reduced)
            if (axis.id != windows_.axis.window.id)
                others_.push_back(axis);
    }

    Kernel run() {
        const Index blocks = declareResults();
        for (std::size_t i = 0; i < computation_.reductions.size(); ++i)
            declareAccumulator(i);
        openLoops(lines_, text_, others_);
        loadPlaces();
        reduceWindows();
        closeLoops(lines_, others_);
        storeResults();
        return finished(blocks);
    }

private:
    std::string nameOf(const Axis& axis) { return text_.index(Index::of(axis)); }
    std::string_view type() const { return spelling(text_.width()); }
    /// Whether some threads have fewer results than the others.
    bool hasRest() const { return extentOf(windows_.axis.results) % results != 0; }

    void openResults() {
        lines_.add("#pragma unroll");
        lines_.open(fmt::format("for (int j = 0; j < {}; ++j) {{", results));
    }

    /// Declares the first of a thread's results, and the other axes; returns the number of threads.
    Index declareResults() {
        std::vector<Axis> axes = computation_.axes;
        for (Axis& axis : axes)
            if (axis.id == windows_.axis.results.id)
                axis.extent =
                    std::make_shared<const Index>(roundedUpQuotient(*axis.extent, results));
        const Index count = elementsOf(extentsOf(axes));
        const bool isWide = text_.width() == IndexWidth::Bits64;
        lines_.add(fmt::format("const {0} element = {1}blockIdx.x{2} * {3} + threadIdx.x;", type(),
                               isWide ? "static_cast<long long>(" : "", isWide ? ")" : "",
                               threads));
        lines_.open(fmt::format("if (element >= {})", text_.index(count)));
        lines_.add("return;");
        lines_.close("");
        declareAxes(lines_, text_, axes, "element");
        const bool isAlone = extentOf(windows_.axis.results) <= results; // It was not declared.
        lines_.add(isAlone ? fmt::format("const {} {} = 0;", type(), first_)
                           : fmt::format("const {} {} = {} * {};", type(), first_,
                                         nameOf(windows_.axis.results), results));
        text_.bind(windows_.axis.results.id, fmt::format("({} + j)", first_));
        return count;
    }

    void declareAccumulator(std::size_t number) {
        const Reduction& reduction = computation_.reductions[number];
        const auto kind = computedType(reduction.type);
        lines_.add(fmt::format("{} acc{}[{}];", analysis::raise::spelling(kind), number, results));
        openResults();
        lines_.add(fmt::format("acc{}[j] = {};", number, neutralText(reduction.reducer, kind)));
        lines_.close();
    }

    /// Loads all that the windows of the thread's results reach.
    void loadPlaces() {
        const WindowAxis& axis = windows_.axis;
        for (std::size_t i = 0; i < arrays_.size(); ++i)
            lines_.add(
                fmt::format("{} {}[{}]{};",
                            analysis::raise::spelling(computedType(windows_.reads[i].place->type)),
                            arrays_[i], reachOf(axis), hasRest() ? " = {}" : ""));
        lines_.add("#pragma unroll");
        lines_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", place_, reachOf(axis)));
        lines_.add(fmt::format(
            "const {} {} = {} + {};", type(), nameOf(axis.places),
            axis.stride == 1 ? first_ : fmt::format("{} * {}", axis.stride, first_), place_));
        if (hasRest())
            lines_.open(fmt::format("if ({} < {}) {{", nameOf(axis.places),
                                    text_.index(*axis.places.extent)));
        std::vector<Scalar> values;
        for (const WindowRead& read : windows_.reads)
            values.push_back(read.place);
        const CudaText::Values texts = text_.values(values);
        lines_.addAll(texts.statements);
        for (std::size_t i = 0; i < arrays_.size(); ++i)
            lines_.add(fmt::format("{}[{}] = {};", arrays_[i], place_, texts.values[i]));
        if (hasRest())
            lines_.close();
        lines_.close();
    }

    void reduceWindows() {
        lines_.add("#pragma unroll");
        openLoops(lines_, text_, {windows_.axis.window});
        openResults();
        std::vector<Scalar> elements;
        for (const Reduction& reduction : computation_.reductions)
            elements.push_back(withPlaces(reduction.element));
        text_.setLeaf([&](const ScalarNode& node) -> std::optional<std::string> {
            const auto place = places_.find(&node);
            return place != places_.end() ? std::optional(place->second) : std::nullopt;
        });
        const CudaText::Values values = text_.values(elements);
        lines_.addAll(values.statements);
        for (std::size_t i = 0; i < elements.size(); ++i) {
            const Reduction& reduction = computation_.reductions[i];
            const std::string acc = fmt::format("acc{}[j]", i);
            lines_.add(fmt::format(
                "{} = {};", acc,
                text_.combined(reduction.reducer, reduction.type, acc, values.values[i])));
        }
        lines_.close();
        closeLoops(lines_, {windows_.axis.window});
    }

    /// Returns the value with what was loaded in place of the reads.
    Scalar withPlaces(const Scalar& value) {
        Scalar& written = written_[value.get()];
        if (written)
            return written;
        for (std::size_t i = 0; i < windows_.reads.size(); ++i)
            if (windows_.reads[i].element == value)
                return written = placeOf(i);
        ScalarNode copy = *value;
        for (Scalar& argument : copy.arguments)
            argument = withPlaces(argument);
        return written = std::make_shared<const ScalarNode>(std::move(copy));
    }

    Scalar placeOf(std::size_t read) {
        const WindowAxis& axis = windows_.axis;
        const auto times = [](std::int64_t factor, const std::string& name) {
            return factor == 1 ? name : fmt::format("{} * {}", factor, name);
        };
        ScalarNode node;
        node.kind = ScalarNode::Kind::Load;
        node.type = computedType(windows_.reads[read].element->type);
        // Such a position has no tensor.
        node.position = {Index(-1), Index(static_cast<std::int64_t>(read))};
        auto place = std::make_shared<const ScalarNode>(std::move(node));
        places_[place.get()] = fmt::format("{}[{} + {}]", arrays_[read], times(axis.stride, "j"),
                                           times(axis.dilation, nameOf(axis.window)));
        return place;
    }

    void storeResults() {
        const WindowAxis& axis = windows_.axis;
        openResults();
        if (hasRest())
            lines_.open(
                fmt::format("if ({} + j < {}) {{", first_, text_.index(*axis.results.extent)));
        text_.setLeaf([](const ScalarNode& node) {
            return node.kind == ScalarNode::Kind::Accumulated
                       ? std::optional(fmt::format("acc{}[j]", node.reduction))
                       : std::nullopt;
        });
        addStores(lines_, text_, computation_.stores);
        if (hasRest())
            lines_.close();
        lines_.close();
    }

    Kernel finished(const Index& count) {
        const std::set<std::string>& helpers = text_.helpers();
        kernel_.helpers.assign(helpers.begin(), helpers.end());
        kernel_.schedule = fmt::format(
            "a thread computes {} neighbouring results, whose windows overlap", results);
        kernel_.blocks[0] = roundedUpQuotient(count, static_cast<std::int64_t>(threads));
        kernel_.threads = {threads, 1, 1};
        kernel_.definition = definitionText(program_, kernel_, lines_.text());
        return std::move(kernel_);
    }

    const Program& program_;
    Computation computation_;
    WindowReads windows_;
    Kernel kernel_;
    CudaText text_;
    std::string first_;               ///< The variable of a thread's first result.
    std::string place_;               ///< The variable of a place's number in the arrays.
    std::vector<std::string> arrays_; ///< The arrays, one for each read.
    std::vector<Axis> others_;        ///< The reduced axes but the window's.
    std::map<const ScalarNode*, Scalar> written_;     ///< What withPlaces() returned.
    std::map<const ScalarNode*, std::string> places_; ///< The texts of what placeOf() returned.
    CodeLines lines_;
};

} // namespace

std::optional<Kernel> windowKernel(const Program& program, const Computation& computation) {
    std::uint32_t axes = program.axes;
    Computation merged = withMergedAxes(program, computation, axes);
    auto windows = sharedReads(merged, axes);
    if (!windows)
        return std::nullopt;
    return WindowWriter(program, std::move(merged), *std::move(windows)).run();
}

} // namespace kernelskill::engine::graph
