#include "engine/graph/kernels/kernel_draft.h"

#include "analysis/raise/cost.h"
#include "analysis/raise/merged_axes.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::BufferId;
using analysis::raise::Computation;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::ScalarNode;

/// Collects what a kernel needs from outside.
class Needs {
public:
    explicit Needs(const Program& program) : program_(program) {}

    void add(const Computation& computation) {
        forEachNode(computation, [&](const ScalarNode& node) { addNode(node); });
        for (const analysis::raise::Store& store : computation.stores) {
            addBuffer(store.buffer, true);
            for (const Index& at : store.position)
                add(at);
        }
        for (const auto* list : {&computation.axes, &computation.reduced})
            for (const Axis& axis : *list)
                add(*axis.extent);
    }
    void add(const Index& index) {
        for (const auto& [key, term] : index.terms())
            for (const Index::AtomRef& atom : term.atoms)
                add(*atom);
    }
    void fill(Kernel& kernel) {
        kernel.parameters = std::move(parameters_);
        kernel.symbols.assign(symbols_.begin(), symbols_.end());
        std::set<std::string> headers;
        for (const KernelParameter& parameter : kernel.parameters) {
            const ScalarKind type = program_.buffers.at(parameter.buffer).element;
            if (type == ScalarKind::Half)
                headers.insert("cuda_fp16.h");
            if (type == ScalarKind::BFloat16)
                headers.insert("cuda_bf16.h");
        }
        kernel.headers.assign(headers.begin(), headers.end());
    }

private:
    void addNode(const ScalarNode& node) {
        add(node.index);
        for (const Index& at : node.position)
            add(at);
        if (node.kind == ScalarNode::Kind::Load)
            addBuffer(node.buffer, false);
    }
    void add(const Index::Atom& atom) {
        switch (atom.kind) {
        case Index::Atom::Kind::Size:
            symbols_.insert(atom.name);
            break;
        case Index::Atom::Kind::Quotient:
        case Index::Atom::Kind::Remainder:
            add(*atom.left);
            add(*atom.right);
            break;
        case Index::Atom::Kind::Data:
            forEachNode(atom.data, [&](const ScalarNode& node) { addNode(node); });
            break;
        case Index::Atom::Kind::Axis:
            break;
        }
    }
    void addBuffer(BufferId buffer, bool isWritten) {
        for (const Index& extent : program_.buffers.at(buffer).shape)
            add(extent);
        const auto known = std::ranges::find(parameters_, buffer, &KernelParameter::buffer);
        if (known == parameters_.end())
            parameters_.push_back({buffer, isWritten});
        else
            known->isWritten = known->isWritten || isWritten;
    }

    const Program& program_;
    std::vector<KernelParameter> parameters_;
    std::set<std::string> symbols_;
};

double operationsOf(const Computation& computation) {
    double reduced = 0;
    for (const analysis::raise::Reduction& reduction : computation.reductions)
        reduced += 1 + static_cast<double>(operationsIn(reduction.element));
    double stored = 0;
    for (const analysis::raise::Store& store : computation.stores)
        stored += static_cast<double>(operationsIn(store.value));
    const double inner = analysis::raise::estimatedElements(computation.reduced);
    // A map of a row program has its elements where a reduction has what it reduces.
    return analysis::raise::estimatedElements(computation.axes) *
           (computation.reductions.empty() ? inner * stored : inner * reduced + stored);
}

} // namespace

void CodeLines::add(const std::string& line) {
    text_ += line.empty() ? "\n" : std::string(depth_ * 4, ' ') + line + "\n";
}

void CodeLines::addAll(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        add(line);
}

void CodeLines::open(const std::string& head) {
    add(head);
    ++depth_;
}

void CodeLines::close(const std::string& tail) {
    --depth_;
    add(tail);
}

Kernel draftOf(const Program& program, std::span<const Computation> computations,
               const std::vector<Index>& more) {
    Kernel kernel;
    kernel.name = computations.back().name;
    Needs needs(program);
    for (const Computation& computation : computations) {
        needs.add(computation);
        for (const std::string& source : computation.sources)
            if (std::ranges::find(kernel.sources, source) == kernel.sources.end())
                kernel.sources.push_back(source);
    }
    for (const Index& index : more)
        needs.add(index);
    needs.fill(kernel);
    for (const Computation& computation : computations)
        kernel.operations += operationsOf(computation);
    for (const KernelParameter& parameter : kernel.parameters)
        kernel.bytes += estimatedBytes(program.buffers.at(parameter.buffer));
    return kernel;
}

std::string definitionText(const Program& program, const Kernel& kernel, const std::string& body,
                           const std::string& before, int blocks) {
    const std::size_t threads = kernel.threads[0] * kernel.threads[1] * kernel.threads[2];
    return fmt::format("{}{}__global__ void __launch_bounds__({}{})\n{}_kernel({})\n{{\n{}}}\n",
                       before, before.empty() ? "" : "\n", threads,
                       blocks == 0 ? "" : fmt::format(", {}", blocks), kernel.name,
                       parameterList(program, kernel), body);
}

Index roundedUpQuotient(const Index& value, std::int64_t by) {
    return quotient(value + Index(by - 1), by);
}

std::string hostText(const Index& index) {
    // Extents name sizes and numbers alone, so no program is asked for a buffer.
    const Program none;
    const std::string text = CudaText::ofHost(none).index(index);
    const auto value = index.constant();
    return value && *value >= (std::int64_t{1} << 31) ? text + "LL" : text;
}

std::string_view functorOf(analysis::raise::Reducer reducer) {
    switch (reducer) {
    case analysis::raise::Reducer::Product:
        return "Product";
    case analysis::raise::Reducer::Maximum:
        return "Maximum";
    case analysis::raise::Reducer::Minimum:
        return "Minimum";
    default:
        return "Sum";
    }
}

void openLoops(CodeLines& lines, CudaText& text, const std::vector<Axis>& axes) {
    for (const Axis& axis : axes) {
        const std::string name = text.index(Index::of(axis));
        lines.open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1}) {{", spelling(text.width()),
                               name, text.index(*axis.extent)));
    }
}

void closeLoops(CodeLines& lines, const std::vector<Axis>& axes) {
    for (std::size_t i = 0; i < axes.size(); ++i)
        lines.close();
}

void declareAxes(CodeLines& lines, CudaText& text, const std::vector<Axis>& axes,
                 const std::string& number) {
    Index inner = 1;
    for (std::size_t i = axes.size(); i-- > 0;) {
        const Axis& axis = axes[i];
        if (axis.extent->constant() == 1) // It has no name.
            continue;
        const std::string name = text.index(Index::of(axis));
        std::string part = number;
        if (inner.constant() != 1)
            part = fmt::format("{} / {}", number, text.index(inner, true));
        if (i > 0)
            part = fmt::format("{} % {}", part, text.index(*axis.extent, true));
        if (part != name)
            lines.add(fmt::format("const {} {} = {};", spelling(text.width()), name, part));
        inner = inner * *axis.extent;
    }
}

void addStores(CodeLines& lines, CudaText& text,
               const std::vector<analysis::raise::Store>& stores) {
    std::vector<analysis::raise::Scalar> scalars;
    for (const analysis::raise::Store& store : stores)
        scalars.push_back(store.value);
    const CudaText::Values values = text.values(scalars);
    lines.addAll(values.statements);
    for (std::size_t i = 0; i < stores.size(); ++i)
        lines.add(fmt::format("{} = {};", text.element(stores[i].buffer, stores[i].position),
                              text.stored(stores[i].buffer, values.values[i])));
}

std::string freshName(const std::string& wanted, std::set<std::string>& taken) {
    std::string name = wanted;
    for (std::size_t i = 1; !taken.insert(name).second; ++i)
        name = fmt::format("{}_{}", wanted, i);
    return name;
}

std::set<std::string> namesOf(const Program& program, const Kernel& kernel) {
    std::set<std::string> names = {"element", "elements", "blocks", "stream", "j", "row", "lane"};
    for (const KernelParameter& parameter : kernel.parameters)
        names.insert(program.buffers.at(parameter.buffer).name);
    names.insert(kernel.symbols.begin(), kernel.symbols.end());
    return names;
}

void bindNames(CudaText& text, const std::vector<Axis>& axes, std::set<std::string>& taken) {
    for (const Axis& axis : axes)
        text.bind(axis.id, freshName(axis.name, taken));
}

} // namespace kernelskill::engine::graph
