#include "engine/graph/torch/prepared_program.h"

#include "engine/graph/operators.h"
#include "engine/graph/reference/contiguous_tensor.h"
#include "engine/graph/tensor_extents.h"
#include "engine/graph/torch/arguments.h"
#include "engine/graph/torch/bound_inputs.h"
#include "engine/graph/torch/failures.h"
#include "engine/graph/torch/symbolic_integers.h"
#include "engine/graph/torch/torch_names.h"

#include <algorithm>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <functional>
#include <utility>
#include <variant>

namespace kernelskill::engine::graph {
namespace {

using NameSink = std::function<void(const std::string&)>;

void visitName(const ValueName& name, const NameSink& visit) {
    visit(name.name);
}

void visitName(const std::optional<ValueName>& name, const NameSink& visit) {
    if (name)
        visit(name->name);
}

void visitName(const SymbolicInt& number, const NameSink& visit) {
    if (const auto* name = std::get_if<ValueName>(&number))
        visit(name->name);
}

/// Calls `visit` with each value that the argument reads.
void visitRead(const Argument& argument, const NameSink& visit) {
    std::visit(
        [&](const auto& given) {
            if constexpr (requires { visitName(given, visit); }) {
                visitName(given, visit);
            } else if constexpr (requires { visitName(given.front(), visit); }) {
                for (const auto& each : given)
                    visitName(each, visit);
            }
        },
        argument);
}

/// Whether the node compares extents or asserts what they are: whoever chose them has seen to it.
bool isOfConditions(const Program& program, const Node& node) {
    const auto isTruth = [&](const std::string& name) {
        return name.empty() || program.otherValues.contains(name);
    };
    return isOfExtents(node.target) &&
           std::ranges::all_of(node.results, [&](const std::vector<std::string>& names) {
               return std::ranges::all_of(names, isTruth);
           });
}

std::string placeOf(const Node& node) {
    return "node " + node.name + (node.module.empty() ? "" : " of " + node.module);
}

Error in(const Node& node, Error error) {
    if (error.where.empty())
        error.where = placeOf(node);
    return error;
}

Result<Place> placeFor(const TorchSubject& subject) {
    Place place;
    place.device = c10::Device(subject.device);
    if (subject.precision != Precision::AsWritten)
        place.floating = subject.precision == Precision::Float64 ? at::kDouble : at::kFloat;
    if (place.device.is_cpu())
        return place;
    const bool isKnown = place.device.is_cuda() && at::hasCUDA();
    const int devices =
        isKnown ? c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).deviceCount() : 0;
    if (!place.device.has_index())
        place.device.set_index(0);
    if (place.device.index() >= devices)
        return std::unexpected(Error{ErrorKind::Missing,
                                     "LibTorch has no device " + place.device.str(),
                                     {},
                                     isKnown ? "" : "build with a LibTorch that has CUDA"});
    return place;
}

} // namespace

Result<PreparedProgram> PreparedProgram::prepareUnbound(std::shared_ptr<const Program> program,
                                                        const TorchSubject& subject) {
    PreparedProgram prepared(std::move(program), subject);
    return withoutExceptions("the program cannot be prepared", "",
                             [&]() -> Result<PreparedProgram> {
                                 if (auto found = prepared.findOperators(); !found)
                                     return std::unexpected(found.error());
                                 auto place = placeFor(subject);
                                 if (!place)
                                     return std::unexpected(place.error());
                                 prepared.place_ = *place;
                                 prepared.findLastUses();
                                 return std::move(prepared);
                             });
}

Result<PreparedProgram> PreparedProgram::prepareAsWritten(std::shared_ptr<const Program> program,
                                                          TorchSubject subject) {
    subject.precision = Precision::AsWritten;
    return prepareUnbound(std::move(program), subject);
}

Result<PreparedProgram> PreparedProgram::prepare(std::shared_ptr<const Program> program,
                                                 const TorchSubject& subject) {
    auto prepared = prepareUnbound(std::move(program), subject);
    if (!prepared)
        return prepared;
    return withoutExceptions(
        "the program cannot be prepared", "", [&]() -> Result<PreparedProgram> {
            auto bound = bindInputs(*prepared->program_, subject, prepared->place_);
            if (!bound)
                return std::unexpected(bound.error());
            prepared->bound_ = std::move(*bound);
            return std::move(prepared);
        });
}

Result<void> PreparedProgram::findOperators() {
    std::set<std::string> problems;
    std::optional<Error> first;
    for (const Node& node : program_->nodes) {
        Step& step = steps_.emplace_back();
        step.node = &node;
        if (isSymbolicArithmetic(node.target) || isOfConditions(*program_, node))
            continue;
        auto found = torchOperator(node.target);
        if (found) {
            step.called = std::move(*found);
        } else if (problems.insert(found.error().what).second && !first) {
            first = in(node, found.error());
        }
    }
    if (!first)
        return {};
    problems.erase(first->what);
    for (const std::string& problem : problems)
        first->what += "; " + problem;
    return std::unexpected(std::move(*first));
}

void PreparedProgram::findLastUses() {
    std::set<std::string, std::less<>> readLater;
    for (const Output& output : program_->outputs)
        readLater.insert(output.value);
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        for (const NamedArgument& argument : step->node->arguments)
            visitRead(argument.value, [&](const std::string& name) {
                if (readLater.insert(name).second)
                    step->done.push_back(name);
            });
    }
    read_ = std::move(readLater);
}

Values PreparedProgram::begin() const {
    at::manual_seed(seed_);
    at::globalContext().setAllowTF32CuBLAS(allowsTf32_);
    at::globalContext().setAllowTF32CuDNN(allowsTf32_);
    return bound_;
}

Tf32Limit::Tf32Limit(bool isNeeded) : isNeeded_(isNeeded) {
    if (!isNeeded_)
        return;
    products_ = at::globalContext().allowTF32CuBLAS();
    convolutions_ = at::globalContext().allowTF32CuDNN();
    at::globalContext().setAllowTF32CuBLAS(false);
    at::globalContext().setAllowTF32CuDNN(false);
}

Tf32Limit::~Tf32Limit() {
    if (!isNeeded_)
        return;
    at::globalContext().setAllowTF32CuBLAS(products_);
    at::globalContext().setAllowTF32CuDNN(convolutions_);
}

void useTf32(bool products) {
    at::globalContext().setAllowTF32CuBLAS(products);
    at::globalContext().setAllowTF32CuDNN(true);
}

Result<Values> PreparedProgram::run(Values values, const KeptValues& kept) const {
    const at::NoGradGuard withoutGradients;
    for (const Step& step : steps_) {
        if (const auto done = tryStep(step, values); !done)
            return std::unexpected(done.error());
        const Node& node = *step.node;
        if (kept.keepsAll)
            continue;
        for (const std::string& name : step.done)
            if (!kept.names.contains(name))
                values.erase(name);
        for (const auto& names : node.results)
            for (const std::string& name : names)
                if (!read_.contains(name) && !kept.names.contains(name))
                    values.erase(name);
    }
    return values;
}

Result<void> PreparedProgram::runNode(const Node& node, Values& values) const {
    const auto known = std::ranges::find_if(
        steps_, [&](const Step& each) { return each.node->name == node.name; });
    if (known == steps_.end() || known->node->target != node.target)
        return std::unexpected(
            Error{ErrorKind::InvalidInput, "the program has no node " + node.name, {}, {}});
    Step step = *known;
    step.node = &node;
    const at::NoGradGuard withoutGradients;
    return tryStep(step, values);
}

Result<void> PreparedProgram::tryStep(const Step& step, Values& values) const {
    const Node& node = *step.node;
    const auto done = withoutExceptions(node.target + " failed", placeOf(node),
                                        [&] { return runStep(step, values); });
    if (!done)
        return std::unexpected(in(node, done.error()));
    return {};
}

Result<void> PreparedProgram::runStep(const Step& step, Values& values) const {
    const Node& node = *step.node;
    if (!step.called && isOfConditions(*program_, node))
        return {};
    if (!step.called) {
        const auto result = computeSymbolic(node, values);
        if (!result)
            return std::unexpected(result.error());
        torch::jit::Stack results{c10::IValue(*result)};
        return store(node, results, values);
    }
    auto stack = stackFor(node, *step.called->schema, values, place_);
    if (!stack)
        return std::unexpected(stack.error());
    step.called->call(*stack);
    return store(node, *stack, values);
}

at::Tensor PreparedProgram::asExported(const Node& node, const std::string& name,
                                       const at::Tensor& tensor) const {
    const auto type = program_->values.find(name);
    if (node.target != "aten.lstm.input" || type == program_->values.end() ||
        tensor.numel() != elementCount(type->second))
        return tensor;
    return tensor.reshape(valuesOf(type->second.sizes));
}

std::string PreparedProgram::typeProblem(const std::string& name, const at::Tensor& tensor) const {
    const auto type = program_->values.find(name);
    if (type == program_->values.end() || !read_.contains(name))
        return {};
    const auto element = scalarType(type->second.element);
    if (element && typeAt(place_, *element) != tensor.scalar_type())
        return std::string("has elements of ") + at::toString(tensor.scalar_type()) +
               " instead of " + std::string(nameOf(type->second.element));
    return shapeProblem(type->second, tensor.sizes());
}

Result<void> PreparedProgram::store(const Node& node, torch::jit::Stack& results,
                                    Values& values) const {
    const auto wrong = [&](const std::string& what) {
        return std::unexpected(Error{ErrorKind::Failed, node.target + " " + what, {}, {}});
    };
    const auto keep = [&](const std::string& name, c10::IValue value) -> Result<void> {
        if (name.empty() || value.isNone() || (value.isTensor() && !value.toTensor().defined()))
            return {};
        if (value.isTensor()) {
            const auto tensor = value.toTensor();
            value = asExported(node, name, tensor.to(typeAt(place_, tensor.scalar_type())));
            if (const auto problem = typeProblem(name, value.toTensor()); !problem.empty())
                return wrong("made " + name + ", which " + problem);
        }
        values.insert_or_assign(name, std::move(value));
        return {};
    };
    if (results.size() < node.results.size())
        return wrong("made " + std::to_string(results.size()) + " results instead of " +
                     std::to_string(node.results.size()));
    for (std::size_t i = 0; i < node.results.size(); ++i) {
        const auto& names = node.results[i];
        if (names.empty() && !results[i].isTensorList())
            continue;
        if (!results[i].isTensorList() && names.size() == 1) {
            if (auto kept = keep(names.front(), std::move(results[i])); !kept)
                return kept;
            continue;
        }
        if (!results[i].isTensorList())
            return wrong("made one value instead of " + std::to_string(names.size()));
        const auto tensors = results[i].toTensorVector();
        if (tensors.size() != names.size())
            return wrong("made a list of " + std::to_string(tensors.size()) +
                         " tensors instead of " + std::to_string(names.size()));
        for (std::size_t k = 0; k < names.size(); ++k)
            if (auto kept = keep(names[k], tensors[k]); !kept)
                return kept;
    }
    return {};
}

} // namespace kernelskill::engine::graph
