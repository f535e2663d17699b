#include "engine/graph/torch/trial_tensors.h"

#include "engine/graph/torch/drawn_tensors.h"
#include "engine/graph/torch/tensors.h"
#include "engine/graph/torch/torch_names.h"

#include <utility>

namespace kernelskill::engine::graph {
namespace {

Result<TrialTensor> describe(const TensorType& type, const std::string& name,
                             const Symbols& symbols) {
    TrialTensor tensor;
    tensor.name = name;
    const auto element = scalarType(type.element);
    if (!element)
        return std::unexpected(element.error());
    tensor.type = *element;
    auto sizes = sizesAt(type, symbols);
    if (!sizes)
        return std::unexpected(sizes.error());
    for (const std::int64_t size : *sizes)
        if (size < 0)
            return std::unexpected(
                Error{ErrorKind::Unsupported, "an extent of " + name + " depends on data", {}, {}});
    tensor.sizes = std::move(*sizes);
    return tensor;
}

bool isHeldKind(Input::Kind kind) {
    return kind == Input::Kind::Parameter || kind == Input::Kind::Buffer ||
           kind == Input::Kind::Constant;
}

/// Adds the input to the tensors that it is one of; nothing for what is no tensor.
Result<void> addInput(const Program& program, const Input& input, TrialTensors& tensors) {
    const bool isHeld = isHeldKind(input.kind);
    if (!isHeld && input.kind != Input::Kind::User)
        return {};
    const auto held = program.tensors.find(input.target);
    const auto value = program.values.find(input.value);
    if (value == program.values.end() && (!isHeld || held == program.tensors.end()))
        return {};
    auto tensor = describe(value == program.values.end() ? held->second.type : value->second,
                           input.value, tensors.symbols);
    if (!tensor)
        return std::unexpected(tensor.error());
    tensor->range = elementRange(program, input);
    if (isHeld && held != program.tensors.end() && held->second.owner != nullptr) {
        auto data = tensorOf(held->second, input.target);
        if (!data)
            return std::unexpected(data.error());
        tensor->held = data->contiguous();
    } else if (input.kind == Input::Kind::Constant) {
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     "the archive does not hold the constant " + input.target,
                                     {},
                                     {}});
    }
    (isHeld ? tensors.weights : tensors.inputs).push_back(std::move(*tensor));
    return {};
}

} // namespace

std::int64_t TrialTensor::bytes() const {
    auto count = static_cast<std::int64_t>(c10::elementSize(type));
    for (const std::int64_t size : sizes)
        count *= size;
    return count;
}

Result<TrialTensors> TrialTensors::of(const Program& program, Symbols symbols) {
    TrialTensors tensors;
    for (const auto& [symbol, value] : symbols)
        tensors.sizes.push_back(value);
    tensors.symbols = std::move(symbols);
    for (const Input& input : program.inputs)
        if (auto added = addInput(program, input, tensors); !added)
            return std::unexpected(added.error());
    for (const Output& output : program.outputs) {
        const auto value = program.values.find(output.value);
        if (output.kind != Output::Kind::User || value == program.values.end())
            continue;
        auto tensor = describe(value->second, output.value, tensors.symbols);
        if (!tensor)
            return std::unexpected(tensor.error());
        tensors.outputs.push_back(std::move(*tensor));
    }
    if (tensors.outputs.empty())
        return std::unexpected(
            Error{ErrorKind::Unsupported, "the program has no output that is a tensor", {}, {}});
    return tensors;
}

Result<TrialTensors> TrialTensors::ofExported(const Program& program) {
    auto symbols = exportedSymbols(program);
    if (!symbols)
        return std::unexpected(symbols.error());
    return of(program, std::move(*symbols));
}

void drawWeight(const at::Tensor& tensor, const TrialTensor& weight, std::uint64_t seed) {
    if (weight.held.defined())
        tensor.copy_(weight.held);
    else
        drawWeight(tensor, weight.range, seed, weight.name);
}

void drawInput(const at::Tensor& tensor, const TrialTensor& input, const Draw& draw) {
    drawTensor(tensor, input.range, draw.distribution, draw.seed, input.name);
}

} // namespace kernelskill::engine::graph
