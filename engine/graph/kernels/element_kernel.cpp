#include "engine/graph/kernels/element_kernel.h"

#include "analysis/raise/merged_axes.h"
#include "engine/graph/kernels/cuda_text.h"
#include "engine/graph/kernels/kernel_draft.h"
#include "engine/graph/kernels/vector_accesses.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::Computation;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::Reducer;
using analysis::raise::Reduction;
using analysis::raise::Scalar;
using analysis::raise::Store;

/// Whether the function takes so many instructions that further loads have to be under way
/// meanwhile.
bool takesLong(analysis::raise::Function function) {
    using enum analysis::raise::Function;
    return function == ExponentialMinusOne || function == Logarithm ||
           function == LogarithmOfOnePlus || function == Tanh || function == ErrorFunction ||
           function == Power;
}

class Element {
public:
    Element(const Program& program, const Computation& computation, const ElementSchedule& schedule)
        : program_(program), schedule_(schedule), axes_(program.axes),
          computation_(withMergedAxes(program, computation, axes_)),
          kernel_(draftOf(program, {&computation_, 1})),
          text_(program, indexWidthOf(program, computation_)),
          vectors_(vectorAccesses(program, computation_)) {
        if (!vectors_)
            schedule_ = {};
        taken_ = namesOf(program, kernel_);
        bindNames(text_, computation_.axes, taken_);
        bindNames(text_, computation_.reduced, taken_);
        if (vectors_)
            for (const VectorAccess& load : vectors_->loads)
                vectorNames_.push_back(
                    freshName(program.buffers.at(load.buffer).name + "_at", taken_));
        if (schedule_.vectors > 1) {
            turn_ = freshName("turn", taken_);
            vector_ = freshName("vector", taken_);
        }
    }

    Kernel run() {
        Index elements = elementsOf(analysis::raise::extentsOf(computation_.axes));
        if (vectors_)
            elements = quotient(elements, static_cast<std::int64_t>(vectors_->width));
        begin(elements);
        if (vectors_)
            writeVectors();
        else
            writeElement();
        finish(elements);
        return std::move(kernel_);
    }

private:
    void begin(const Index& elements) {
        const bool isWide = text_.width() == IndexWidth::Bits64;
        elements_ = text_.index(elements);
        lines_.add(fmt::format("const {0} element = {1}blockIdx.x{2} * {3} + threadIdx.x;",
                               spelling(text_.width()), isWide ? "static_cast<long long>(" : "",
                               isWide ? ")" : "", schedule_.threads * schedule_.vectors));
        if (schedule_.vectors > 1)
            return;
        lines_.open(fmt::format("if (element >= {})", elements_));
        lines_.add("return;");
        lines_.close("");
    }

    void writeElement() {
        declareAxes(lines_, text_, computation_.axes, "element");
        writeReductions();
        addStores(lines_, text_, computation_.stores);
    }

    void writeReductions() {
        const auto& reductions = computation_.reductions;
        if (reductions.empty())
            return;
        for (std::size_t i = 0; i < reductions.size(); ++i) {
            const std::string value = findsPlace(reductions[i].reducer) ? fmt::format("best{}", i)
                                                                        : fmt::format("acc{}", i);
            const ScalarKind type =
                computedType(findsPlace(reductions[i].reducer) ? reductions[i].element->type
                                                               : reductions[i].type);
            lines_.add(fmt::format("{} {} = {};", analysis::raise::spelling(type), value,
                                   neutralText(reductions[i].reducer, type)));
            if (findsPlace(reductions[i].reducer))
                lines_.add(fmt::format("long long acc{} = 0;", i));
        }
        openLoops(lines_, text_, computation_.reduced);
        std::vector<Scalar> elements;
        for (const Reduction& reduction : reductions)
            elements.push_back(reduction.element);
        const CudaText::Values values = text_.values(elements);
        lines_.addAll(values.statements);
        for (std::size_t i = 0; i < reductions.size(); ++i)
            writeStep(i, values.values[i]);
        closeLoops(lines_, computation_.reduced);
    }

    void writeStep(std::size_t number, const std::string& value) {
        const Reduction& reduction = computation_.reductions[number];
        if (!findsPlace(reduction.reducer)) {
            const std::string acc = fmt::format("acc{}", number);
            const std::string combined =
                text_.combined(reduction.reducer, reduction.type, acc, value);
            lines_.add(fmt::format("{} = {};", acc, combined));
            return;
        }
        std::vector<Index> position;
        std::vector<Index> shape;
        for (const Axis& axis : computation_.reduced) {
            position.push_back(Index::of(axis));
            shape.push_back(*axis.extent);
        }
        const std::string name = fmt::format("value{}", number);
        lines_.add(fmt::format("const {} {} = {};",
                               analysis::raise::spelling(computedType(reduction.element->type)),
                               name, value));
        lines_.open(fmt::format("if ({0} {1} best{2} || ({0} != {0} && best{2} == best{2})) {{",
                                name, reduction.reducer == Reducer::FirstMaximum ? ">" : "<",
                                number));
        lines_.add(fmt::format("best{} = {};", number, name));
        lines_.add(fmt::format("acc{} = {};", number,
                               text_.index(analysis::raise::flattened(position, shape))));
        lines_.close();
    }

    void writeVectors() {
        helpers_.insert("Vector");
        if (schedule_.vectors == 1) {
            declareVector("element");
            writeLoads();
            writeResults();
            return;
        }
        for (std::size_t i = 0; i < vectors_->loads.size(); ++i)
            lines_.add(fmt::format("{} {}[{}];", vectorType(vectors_->loads[i].buffer),
                                   vectorNames_[i], schedule_.vectors));
        openTurns();
        writeLoads();
        closeTurns();
        openTurns();
        writeResults();
        closeTurns();
    }

    /// Begins a loop over the vectors of a thread that are there.
    void openTurns() {
        lines_.add("#pragma unroll");
        lines_.open(
            fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", turn_, schedule_.vectors));
        lines_.add(fmt::format("const {} {} = element + {} * {};", spelling(text_.width()), vector_,
                               turn_, schedule_.threads));
        lines_.open(fmt::format("if ({} >= {})", vector_, elements_));
        lines_.add("break;");
        lines_.close("");
        declareVector(vector_);
    }

    void closeTurns() { lines_.close(); }

    /// Declares the axes of the element that a vector begins at, by the vector's number.
    void declareVector(const std::string& vector) {
        std::vector<Axis> begins = computation_.axes;
        Axis& inner = begins.back();
        inner.extent = std::make_shared<const Index>(
            quotient(*inner.extent, static_cast<std::int64_t>(vectors_->width)));
        const std::string part =
            begins.size() == 1 ? vector
                               : fmt::format("({} % {})", vector, text_.index(*inner.extent, true));
        declareOuterAxes(begins, vector);
        lines_.add(fmt::format("const {} {} = {} * {};", spelling(text_.width()), firstOfVector(),
                               part, vectors_->width));
    }

    /// Returns the variable of the innermost axis.
    std::string firstOfVector() { return text_.index(Index::of(computation_.axes.back())); }

    std::string vectorType(analysis::raise::BufferId buffer) const {
        return fmt::format("Vector<{}, {}>",
                           analysis::raise::spelling(program_.buffers.at(buffer).element),
                           vectors_->width);
    }

    void writeLoads() {
        const bool isArray = schedule_.vectors > 1;
        for (std::size_t i = 0; i < vectors_->loads.size(); ++i) {
            const VectorAccess& access = vectors_->loads[i];
            lines_.add(
                fmt::format("{}{}{} = *reinterpret_cast<const {}*>({} + {});",
                            isArray ? "" : "const auto ", vectorNames_[i],
                            isArray ? fmt::format("[{}]", turn_) : "", vectorType(access.buffer),
                            program_.buffers.at(access.buffer).name, text_.index(access.first)));
        }
    }

    void writeResults() {
        const std::string first = firstOfVector();
        for (std::size_t i = 0; i < computation_.stores.size(); ++i)
            lines_.add(fmt::format("{} result{};", vectorType(computation_.stores[i].buffer), i));
        lines_.add("#pragma unroll");
        lines_.open(fmt::format("for (int j = 0; j < {}; ++j) {{", vectors_->width));
        text_.bind(computation_.axes.back().id, fmt::format("({} + j)", first));
        text_.setLeaf([&](const analysis::raise::ScalarNode& node) { return leaf(node); });
        std::vector<Scalar> scalars;
        for (const Store& store : computation_.stores)
            scalars.push_back(store.value);
        const CudaText::Values values = text_.values(scalars);
        lines_.addAll(values.statements);
        for (std::size_t i = 0; i < scalars.size(); ++i)
            lines_.add(fmt::format("result{}.at[j] = {};", i,
                                   text_.stored(computation_.stores[i].buffer, values.values[i])));
        lines_.close();
        text_.bind(computation_.axes.back().id, first);
        for (std::size_t i = 0; i < scalars.size(); ++i) {
            const Store& store = computation_.stores[i];
            const analysis::raise::Buffer& array = program_.buffers.at(store.buffer);
            lines_.add(fmt::format("*reinterpret_cast<{}*>({} + {}) = result{};",
                                   vectorType(store.buffer), array.name,
                                   text_.index(flattened(store.position, array.shape)), i));
        }
    }

    /// Declares all axes but the last.
    void declareOuterAxes(const std::vector<Axis>& axes, const std::string& vector) {
        Index inner = *axes.back().extent;
        for (std::size_t i = axes.size() - 1; i-- > 0;) {
            std::string part = fmt::format("{} / {}", vector, text_.index(inner, true));
            if (i > 0)
                part += fmt::format(" % {}", text_.index(*axes[i].extent, true));
            lines_.add(fmt::format("const {} {} = {};", spelling(text_.width()),
                                   text_.index(Index::of(axes[i])), part));
            inner = inner * *axes[i].extent;
        }
    }

    std::optional<std::string> leaf(const analysis::raise::ScalarNode& node) const {
        if (node.kind != analysis::raise::ScalarNode::Kind::Load)
            return std::nullopt;
        const Index first = flattened(node.position, program_.buffers.at(node.buffer).shape);
        for (std::size_t i = 0; i < vectors_->loads.size(); ++i)
            if (vectors_->loads[i].buffer == node.buffer && vectors_->loads[i].first == first) {
                const std::string text = schedule_.vectors > 1
                                             ? fmt::format("{}[{}].at[j]", vectorNames_[i], turn_)
                                             : fmt::format("{}.at[j]", vectorNames_[i]);
                return computedText(node.type, text);
            }
        return std::nullopt;
    }

    void finish(const Index& elements) {
        std::set<std::string> helpers = text_.helpers();
        helpers.insert(helpers_.begin(), helpers_.end());
        kernel_.helpers.assign(helpers.begin(), helpers.end());
        kernel_.schedule = vectors_ ? fmt::format("a thread computes {}{} neighbouring elements",
                                                  schedule_.vectors > 1
                                                      ? fmt::format("{} times ", schedule_.vectors)
                                                      : "",
                                                  vectors_->width)
                           : computation_.reductions.empty()
                               ? "a thread computes an element"
                               : "a thread computes an element, and runs its reduction in a loop";
        kernel_.blocks[0] = roundedUpQuotient(
            elements, static_cast<std::int64_t>(schedule_.threads * schedule_.vectors));
        kernel_.threads[0] = schedule_.threads;
        kernel_.definition = definitionText(program_, kernel_, lines_.text());
    }

    const Program& program_;
    ElementSchedule schedule_;
    std::uint32_t axes_;
    Computation computation_;
    Kernel kernel_;
    CudaText text_;
    std::optional<VectorAccesses> vectors_;
    std::vector<std::string> vectorNames_; ///< The variables that hold loaded vectors.
    std::string turn_;     ///< The variable that counts a thread's vectors; empty if it has one.
    std::string vector_;   ///< The variable of such a vector's number.
    std::string elements_; ///< The number of vectors, or of elements without them, as text.
    std::set<std::string> taken_;
    std::set<std::string> helpers_;
    CodeLines lines_;
};

} // namespace

ElementSchedule elementScheduleFor(const Program& program, const Computation& computation) {
    constexpr std::int64_t many = std::int64_t{1} << 22; // Elements: some blocks for each place.
    constexpr std::size_t mostLoads = 2;                 // More keep too many registers.
    const auto vectors = vectorAccesses(program, computation);
    const auto elements = elementsOf(analysis::raise::extentsOf(computation.axes)).constant();
    if (!vectors || vectors->loads.size() > mostLoads || !elements || *elements < many)
        return {};
    bool isLong = false;
    for (const Store& store : computation.stores)
        forEachNode(store.value, [&](const analysis::raise::ScalarNode& node) {
            isLong |=
                node.kind == analysis::raise::ScalarNode::Kind::Call && takesLong(node.function);
        });
    return isLong ? ElementSchedule{.threads = 128, .vectors = 2} : ElementSchedule{};
}

Kernel elementKernel(const Program& program, const Computation& computation,
                     const ElementSchedule& schedule) {
    return Element(program, computation, schedule).run();
}

} // namespace kernelskill::engine::graph
