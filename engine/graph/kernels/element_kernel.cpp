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

constexpr std::size_t threadsOfBlock = 256;

class Element {
public:
    Element(const Program& program, const Computation& computation)
        : program_(program), axes_(program.axes),
          computation_(withMergedAxes(program, computation, axes_)),
          kernel_(draftOf(program, {&computation_, 1})),
          text_(program, indexWidthOf(program, computation_)),
          vectors_(vectorAccesses(program, computation_)) {
        taken_ = namesOf(program, kernel_);
        bindNames(text_, computation_.axes, taken_);
        bindNames(text_, computation_.reduced, taken_);
        if (vectors_)
            for (const VectorAccess& load : vectors_->loads)
                vectorNames_.push_back(
                    freshName(program.buffers.at(load.buffer).name + "_at", taken_));
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
        const std::string_view type = spelling(text_.width());
        const bool isWide = text_.width() == IndexWidth::Bits64;
        lines_.add(fmt::format("const {0} element = {1}blockIdx.x{2} * {3} + threadIdx.x;", type,
                               isWide ? "static_cast<long long>(" : "", isWide ? ")" : "",
                               threadsOfBlock));
        lines_.open(fmt::format("if (element >= {})", text_.index(elements)));
        lines_.add("return;");
        lines_.close("");
    }

    void writeElement() {
        declareAxes(lines_, text_, computation_.axes, "element");
        writeReductions();
        writeStores(computation_.stores);
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

    void writeStores(const std::vector<Store>& stores) {
        std::vector<Scalar> scalars;
        for (const Store& store : stores)
            scalars.push_back(store.value);
        const CudaText::Values values = text_.values(scalars);
        lines_.addAll(values.statements);
        for (std::size_t i = 0; i < stores.size(); ++i)
            lines_.add(fmt::format("{} = {};", text_.element(stores[i].buffer, stores[i].position),
                                   text_.stored(stores[i].buffer, values.values[i])));
    }

    void writeVectors() {
        const VectorAccesses& vectors = *vectors_;
        helpers_.insert("Vector");
        // The axes of the elements that a thread begins at.
        std::vector<Axis> begins = computation_.axes;
        Axis& inner = begins.back();
        const std::string first = text_.index(Index::of(inner));
        inner.extent = std::make_shared<const Index>(
            quotient(*inner.extent, static_cast<std::int64_t>(vectors.width)));
        const std::string part =
            begins.size() == 1 ? "element"
                               : fmt::format("(element % {})", text_.index(*inner.extent, true));
        declareOuterAxes(begins);
        lines_.add(fmt::format("const {} {} = {} * {};", spelling(text_.width()), first, part,
                               vectors.width));
        const auto type = [&](analysis::raise::BufferId buffer) {
            return fmt::format("Vector<{}, {}>",
                               analysis::raise::spelling(program_.buffers.at(buffer).element),
                               vectors.width);
        };
        for (std::size_t i = 0; i < vectors.loads.size(); ++i) {
            const VectorAccess& access = vectors.loads[i];
            const std::string& array = program_.buffers.at(access.buffer).name;
            lines_.add(fmt::format("const auto {} = *reinterpret_cast<const {}*>({} + {});",
                                   vectorNames_[i], type(access.buffer), array,
                                   text_.index(access.first)));
        }
        for (std::size_t i = 0; i < computation_.stores.size(); ++i)
            lines_.add(fmt::format("{} result{};", type(computation_.stores[i].buffer), i));
        lines_.add("#pragma unroll");
        lines_.open(fmt::format("for (int j = 0; j < {}; ++j) {{", vectors.width));
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
                                   type(store.buffer), array.name,
                                   text_.index(flattened(store.position, array.shape)), i));
        }
    }

    /// Declares all axes but the last.
    void declareOuterAxes(const std::vector<Axis>& axes) {
        Index inner = *axes.back().extent;
        for (std::size_t i = axes.size() - 1; i-- > 0;) {
            std::string part = fmt::format("element / {}", text_.index(inner, true));
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
                const std::string text = fmt::format("{}.at[j]", vectorNames_[i]);
                if (node.type == ScalarKind::Half)
                    return fmt::format("__half2float({})", text);
                if (node.type == ScalarKind::BFloat16)
                    return fmt::format("__bfloat162float({})", text);
                return text;
            }
        return std::nullopt;
    }

    void finish(const Index& elements) {
        std::set<std::string> helpers = text_.helpers();
        helpers.insert(helpers_.begin(), helpers_.end());
        kernel_.helpers.assign(helpers.begin(), helpers.end());
        kernel_.schedule =
            vectors_ ? fmt::format("a thread computes {} neighbouring elements", vectors_->width)
            : computation_.reductions.empty()
                ? "a thread computes an element"
                : "a thread computes an element, and runs its reduction in a loop";
        kernel_.blocks[0] = roundedUpQuotient(elements, threadsOfBlock);
        kernel_.threads[0] = threadsOfBlock;
        kernel_.definition = definitionText(program_, kernel_, lines_.text());
    }

    const Program& program_;
    std::uint32_t axes_;
    Computation computation_;
    Kernel kernel_;
    CudaText text_;
    std::optional<VectorAccesses> vectors_;
    std::vector<std::string> vectorNames_; ///< The variables that hold loaded vectors.
    std::set<std::string> taken_;
    std::set<std::string> helpers_;
    CodeLines lines_;
};

} // namespace

Kernel elementKernel(const Program& program, const Computation& computation) {
    return Element(program, computation).run();
}

} // namespace kernelskill::engine::graph
