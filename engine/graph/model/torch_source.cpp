#include "engine/graph/model/torch_source.h"

#include "analysis/raise/channels_last.h"
#include "engine/graph/kernels/kernel_draft.h"
#include "engine/graph/model/sizes_source.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>

namespace kernelskill::engine::graph {

namespace {

using analysis::ScalarKind;
using analysis::raise::Buffer;
using analysis::raise::BufferId;
using analysis::raise::LibraryCall;

std::string includesOfTorch() {
    std::string lines;
    for (const char* header :
         {"ATen/ATen.h", "ATen/core/dispatch/Dispatcher.h", "ATen/cuda/CUDAContext.h",
          "c10/cuda/CUDAGuard.h", "torch/custom_class.h", "torch/library.h"})
        lines += fmt::format("#include <{}>\n", header);
    return lines;
}

std::string_view torchType(ScalarKind type) {
    switch (type) {
    case ScalarKind::Bool:
        return "at::kBool";
    case ScalarKind::UInt8:
        return "at::kByte";
    case ScalarKind::Char:
        return "at::kChar";
    case ScalarKind::Int16:
        return "at::kShort";
    case ScalarKind::Int32:
        return "at::kInt";
    case ScalarKind::Int64:
        return "at::kLong";
    case ScalarKind::Half:
        return "at::kHalf";
    case ScalarKind::BFloat16:
        return "at::kBFloat16";
    case ScalarKind::Double:
        return "at::kDouble";
    default:
        return "at::kFloat";
    }
}

std::string shapeOf(const Buffer& buffer) {
    std::string list;
    for (const analysis::raise::Index& extent : buffer.shape)
        list += (list.empty() ? "" : ", ") + hostText(extent);
    return "{" + list + "}";
}

template <typename T>
std::string listText(const std::vector<T>& values) {
    std::string list;
    for (const T& value : values)
        list += fmt::format("{}{}", list.empty() ? "" : ", ", value);
    return list;
}

std::string doubleText(double value) {
    const std::string text = fmt::format("{}", value);
    if (text == "inf" || text == "-inf")
        return (text[0] == '-' ? "-" : "") + std::string("std::numeric_limits<double>::infinity()");
    if (text == "nan")
        return "std::numeric_limits<double>::quiet_NaN()";
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

/// A node's argument as an IValue; nullopt for a kind that has no text.
class ArgumentText {
public:
    explicit ArgumentText(const ModelPlan& plan) : plan_(plan) {}

    std::optional<std::string> operator()(const Argument& argument) {
        return std::visit([&](const auto& value) { return text(value); }, argument);
    }

private:
    using Text = std::optional<std::string>;
    std::string tensor() { return fmt::format("tensors[{}]", next_++); }

    static Text text(std::monostate) { return "c10::IValue()"; }
    Text text(const ValueName&) { return tensor(); }
    Text text(const std::vector<ValueName>& names) {
        std::string list;
        for (std::size_t i = 0; i < names.size(); ++i)
            list += (i > 0 ? ", " : "") + tensor();
        return fmt::format("std::vector<at::Tensor>{{{}}}", list);
    }
    static Text text(std::int64_t value) { return fmt::format("std::int64_t{{{}}}", value); }
    static Text text(double value) { return doubleText(value); }
    static Text text(bool value) { return value ? "true" : "false"; }
    static Text text(const std::string& value) { return fmt::format("std::string(\"{}\")", value); }
    static Text text(const std::vector<std::int64_t>& values) {
        return fmt::format("std::vector<std::int64_t>{{{}}}", listText(values));
    }
    static Text text(const std::vector<double>& values) {
        std::string list;
        for (const double value : values)
            list += (list.empty() ? "" : ", ") + doubleText(value);
        return fmt::format("std::vector<double>{{{}}}", list);
    }
    Text text(const SymbolicInt& value) const {
        return fmt::format("std::int64_t{{{}}}", numberText(value));
    }
    Text text(const std::vector<SymbolicInt>& values) const {
        std::string list;
        for (const SymbolicInt& value : values)
            list += (list.empty() ? "" : ", ") + numberText(value);
        return fmt::format("std::vector<std::int64_t>{{{}}}", list);
    }
    template <typename Other>
    static Text text(const Other&) {
        return std::nullopt;
    }

    /// An integer of the graph as an expression over sizes.
    [[nodiscard]] std::string numberText(const SymbolicInt& value) const {
        if (const auto* name = std::get_if<ValueName>(&value))
            return hostText(plan_.integers.at(name->name));
        return std::to_string(std::get<std::int64_t>(value));
    }

    const ModelPlan& plan_;
    std::size_t next_ = 0;
};

/// "aten::conv2d", "" of "aten.conv2d.default".
std::pair<std::string, std::string> operatorOf(const std::string& target) {
    const std::size_t first = target.find('.');
    const std::size_t last = target.rfind('.');
    if (first == std::string::npos || first == last)
        return {target, ""};
    const std::string overload = target.substr(last + 1);
    return {target.substr(0, first) + "::" + target.substr(first + 1, last - first - 1),
            overload == "default" ? "" : overload};
}

/// The member of TorchLibrary that holds an output which the library computes.
std::string resultMember(const ModelPlan& plan, BufferId buffer) {
    return "result_" + plan.program.buffers.at(buffer).name;
}

/// The buffers of outputs that stay in the library's memory.
std::set<BufferId> freeOutputs(const ModelPlan& plan) {
    std::set<BufferId> buffers;
    for (const std::size_t place : outputsOfLibraries(plan))
        buffers.insert(plan.outputs[place].buffer);
    return buffers;
}

/// Whether the buffer has a tensor of the node in channels-last order.
bool isTurned(const LibraryCall& call, const Buffer& buffer) {
    return call.isChannelsLast && analysis::raise::hasChannelsLast(buffer.shape.size());
}

std::string libraryNode(const ModelPlan& plan, const LibraryCall& call) {
    const std::set<BufferId> free = freeOutputs(plan);
    const auto node = std::ranges::find(plan.graph.nodes, call.node, &Node::name);
    std::string text = fmt::format("        if (name == \"{}\") {{\n", call.node);
    if (plan.float32Nodes.contains(call.node))
        text += "            const WithoutTf32 float32;\n";
    std::string tensors;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
        const Buffer& buffer = plan.program.buffers.at(call.inputs[i]);
        tensors += fmt::format("                view(const_cast<void*>(inputs[{}]), {}, {}){},\n",
                               i, shapeOf(buffer), torchType(buffer.element),
                               isTurned(call, buffer) ? ".movedim(-1, 1)" : "");
    }
    std::string arguments;
    ArgumentText argumentText(plan);
    bool isComplete = node != plan.graph.nodes.end();
    if (isComplete)
        for (const NamedArgument& argument : node->arguments) {
            const auto value = argumentText(argument.value);
            isComplete = isComplete && value.has_value();
            arguments += fmt::format("                {{\"{}\", {}}},\n", argument.name,
                                     value.value_or("c10::IValue()"));
        }
    if (!isComplete)
        return text + fmt::format("            TORCH_CHECK(false, \"the node {} has an argument "
                                  "that has no text in C++\");\n        }}\n",
                                  call.node);
    const auto [name, overload] = operatorOf(node->target);
    text +=
        fmt::format("            const std::vector<at::Tensor> tensors = {{\n{}            }};\n"
                    "            const torch::jit::Stack results = call(\"{}\", \"{}\", {{\n{}"
                    "            }});\n",
                    tensors, name, overload, arguments);
    std::size_t output = 0;
    for (std::size_t i = 0; i < node->results.size(); ++i)
        for (std::size_t k = 0; k < node->results[i].size(); ++k) {
            if (node->results[i][k].empty())
                continue;
            std::string value = node->results[i].size() == 1
                                    ? fmt::format("results.at({}).toTensor()", i)
                                    : fmt::format("results.at({}).toTensorVector().at({})", i, k);
            if (isTurned(call, plan.program.buffers.at(call.outputs.at(output))))
                value += ".movedim(1, -1)";
            text += fmt::format("            give({}, outputs[{}]{});\n", value, output,
                                free.contains(call.outputs.at(output))
                                    ? fmt::format(", &{}", resultMember(plan, call.outputs[output]))
                                    : std::string());
            ++output;
        }
    return text + "            return cudaSuccess;\n        }\n";
}

std::string libraryClass(const ModelPlan& plan) {
    std::string nodes;
    for (const ModelStep& step : plan.steps)
        if (const auto* call = std::get_if<LibraryCall>(&step.work))
            nodes += libraryNode(plan, *call);
    if (nodes.empty())
        return "";
    const std::string sizes = sizeConstants(plan, "sizes_", "        ");
    std::string results;
    for (const BufferId buffer : freeOutputs(plan))
        results += fmt::format("    at::Tensor {}; ///< An output of the model.\n",
                               resultMember(plan, buffer));
    if (!results.empty())
        results += "\n";
    const std::string_view withoutTf32 =
        plan.float32Nodes.empty() ? "" : R"(/// While it lives, no operator uses TF32.
class WithoutTf32 {
public:
    WithoutTf32()
        : products_(at::globalContext().allowTF32CuBLAS()), convolutions_(at::globalContext().allowTF32CuDNN())
    {
        allow(false, false);
    }
    ~WithoutTf32() { allow(products_, convolutions_); }
    WithoutTf32(const WithoutTf32&) = delete;
    WithoutTf32& operator=(const WithoutTf32&) = delete;

private:
    static void allow(bool products, bool convolutions)
    {
        at::globalContext().setAllowTF32CuBLAS(products);
        at::globalContext().setAllowTF32CuDNN(convolutions);
    }

    bool products_, convolutions_;
};

)";
    return std::string(withoutTf32) +
           fmt::format(
               R"(/// Runs an operator of ATen with these arguments, and defaults for the others.
torch::jit::Stack call(const char* name, const char* overload, const std::map<std::string, c10::IValue>& arguments)
{{
    const auto handle = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
    torch::jit::Stack stack;
    for (const c10::Argument& parameter : handle.schema().arguments()) {{
        const auto given = arguments.find(parameter.name());
        stack.push_back(given != arguments.end() ? given->second : parameter.default_value().value());
    }}
    handle.callBoxed(stack);
    return stack;
}}

/// The nodes that no kernel was made for.
class TorchLibrary : public Model::Library {{
public:
    TorchLibrary({0}at::Device device) : {1}device_(device) {{}}

    cudaError_t run(const char* node, const void* const* inputs, void** outputs, cudaStream_t) override
    {{
        const std::string_view name = node;
        const auto view = [&](void* data, at::IntArrayRef shape, at::ScalarType type) {{
            return at::from_blob(data, shape, at::TensorOptions().dtype(type).device(device_));
        }};
{2}{3}        return cudaErrorNotSupported;
    }}

{5}private:
    /// Copies a result to the output, or lets the output be the result, which `whole` gets, too.
    void give(const at::Tensor& result, void*& output, at::Tensor* whole = nullptr)
    {{
        const at::Tensor tensor = result.contiguous();
        if (whole != nullptr)
            *whole = tensor;
        if (output == nullptr)
            output = kept_.emplace_back(tensor).data_ptr();
        else
            at::from_blob(output, tensor.sizes(), tensor.options()).copy_(tensor);
    }}

{4}    at::Device device_;
    std::vector<at::Tensor> kept_; ///< Results that the model reads.
}};

)",
               plan.symbols.empty() ? "" : "const Model::Sizes& sizes, ",
               plan.symbols.empty() ? "" : "sizes_(sizes), ", sizes, nodes,
               plan.symbols.empty() ? "" : "    Model::Sizes sizes_;\n", results);
}

/// Takes the sizes from the inputs; nothing for a model without any.
std::string takenSizes(const ModelPlan& plan) {
    if (plan.symbols.empty())
        return {};
    // Tensors of graphs have lower-case names, with which these do not collide.
    std::string text = "    Model::Shapes givenShapes;\n";
    for (const ModelTensor& input : plan.inputs) {
        const Buffer& buffer = plan.program.buffers.at(input.buffer);
        if (!buffer.shape.empty())
            text += fmt::format("    std::copy_n({0}.sizes().begin(), {1}, givenShapes.{0});\n",
                                buffer.name, buffer.shape.size());
    }
    return text +
           fmt::format("    Model::Sizes sizes;\n"
                       "    const std::string shapeProblem = Model::sizesOf(givenShapes, sizes);\n"
                       "    TORCH_CHECK(shapeProblem.empty(), \"{}: \", shapeProblem);\n",
                       plan.name) +
           sizeConstants(plan, "sizes");
}

std::string forwardBody(const ModelPlan& plan, bool callsLibrary) {
    std::string text = fmt::format(
        "    TORCH_CHECK(inputs.size() == {0}, \"{1} takes {0} inputs, not \", inputs.size());\n",
        plan.inputs.size(), plan.name);
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
        const Buffer& buffer = plan.program.buffers.at(plan.inputs[i].buffer);
        text += fmt::format("    const at::Tensor {} = checked(inputs[{}], {}, {}, \"{}\");\n",
                            buffer.name, i, torchType(buffer.element), buffer.shape.size(),
                            plan.inputs[i].source);
    }
    text += takenSizes(plan);
    for (const ModelTensor& input : plan.inputs) {
        if (!plan.symbols.empty())
            break; // sizesOf() has looked at them.
        const Buffer& buffer = plan.program.buffers.at(input.buffer);
        text += fmt::format(
            "    TORCH_CHECK({0}.sizes() == at::IntArrayRef({1}), \"{2} has "
            "another shape than {1}: \", {0}.sizes());\n",
            buffer.name, fmt::format("std::vector<std::int64_t>{}", shapeOf(buffer)), input.source);
    }
    text += "    Model::Inputs given;\n";
    const auto pointer = [&](BufferId buffer, std::string_view qualifier, const std::string& of) {
        return fmt::format("static_cast<{}{}*>({}.data_ptr())", qualifier,
                           analysis::raise::spelling(plan.program.buffers.at(buffer).element), of);
    };
    for (const ModelTensor& input : plan.inputs) {
        const std::string& name = plan.program.buffers.at(input.buffer).name;
        text += fmt::format("    given.{} = {};\n", name, pointer(input.buffer, "const ", name));
    }
    text += "    Model::Outputs wanted;\n";
    std::string results;
    const std::set<BufferId> free = freeOutputs(plan);
    for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
        const Buffer& buffer = plan.program.buffers.at(plan.outputs[i].buffer);
        if (free.contains(plan.outputs[i].buffer)) {
            results += (results.empty() ? "" : ", ") +
                       fmt::format("library.{}.view({})",
                                   resultMember(plan, plan.outputs[i].buffer), shapeOf(buffer));
            continue;
        }
        const bool isNew =
            std::ranges::find(plan.outputs, plan.outputs[i].buffer, &ModelTensor::buffer) ==
            plan.outputs.begin() + static_cast<std::ptrdiff_t>(i);
        if (isNew) {
            text += fmt::format("    at::Tensor {} = at::empty({}, "
                                "at::TensorOptions().dtype({}).device(device));\n",
                                buffer.name, shapeOf(buffer), torchType(buffer.element));
            text += fmt::format("    wanted.{0} = {1};\n", buffer.name,
                                pointer(plan.outputs[i].buffer, "", buffer.name));
        }
        results += (results.empty() ? "" : ", ") + buffer.name;
    }
    const std::string_view sizes = plan.symbols.empty() ? "" : "sizes";
    text += fmt::format(
        "    const at::Tensor workspace = at::empty({{static_cast<std::int64_t>(Model::"
        "workspaceBytes({0}))}}, at::TensorOptions().dtype(at::kByte).device(device));\n{1}"
        "    check(model.forward(given, wanted, workspace.data_ptr(){2}{3}, stream));\n"
        "    return {{{4}}};\n",
        sizes,
        callsLibrary ? fmt::format("    TorchLibrary library({}device);\n",
                                   plan.symbols.empty() ? "" : "sizes, ")
                     : "",
        plan.symbols.empty() ? "" : ", sizes", callsLibrary ? ", library" : "", results);
    return text;
}

} // namespace

std::string torchSource(const ModelPlan& plan) {
    const std::string library = libraryClass(plan);
    std::string weights;
    for (std::size_t i = 0; i < plan.weights.size(); ++i) {
        const Buffer& buffer = plan.program.buffers.at(plan.weights[i].buffer);
        weights += fmt::format(
            "        weights.{} = static_cast<const {}*>(keep(all[{}], {}, {}, \"{}\"));\n",
            buffer.name, analysis::raise::spelling(buffer.element), i, torchType(buffer.element),
            fmt::format("std::vector<std::int64_t>{}", shapeOf(buffer)), plan.weights[i].source);
    }
    return fmt::format(
        R"(// The model as an operator of PyTorch:
//     torch.ops.load_library("libmodel_torch.so")
//     outputs = torch.ops.{0}.forward(inputs, weights)      # prepares the weights in each call
//     model = torch.classes.{0}.Model(weights)              # prepares them once
//     outputs = model.forward(inputs)
// Inputs and weights are lists of CUDA tensors, in the order of model.json.
#include "model.h"

{5}
{6}#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {{

using {0}::Model;

void check(cudaError_t status)
{{
    TORCH_CHECK(status == cudaSuccess, "{0}: ", cudaGetErrorString(status));
}}

at::Tensor checked(const at::Tensor& tensor, at::ScalarType type, std::int64_t axes, const char* name)
{{
    TORCH_CHECK(tensor.is_cuda() && tensor.scalar_type() == type && tensor.dim() == axes, name,
                " has to be a CUDA tensor of type ", type, " with ", axes, " dimensions");
    return tensor.contiguous();
}}

{1}/// A model with its weights prepared.
struct PreparedModel : torch::CustomClassHolder {{
    explicit PreparedModel(std::vector<at::Tensor> all)
        : device(all.empty() ? at::Device(at::kCUDA, at::cuda::current_device()) : all[0].device()),
          model(weightsOf(all), nullptr)
    {{
        const c10::cuda::CUDAGuard guard(device);
        prepared = at::empty({{static_cast<std::int64_t>(Model::preparedBytes)}},
                             at::TensorOptions().dtype(at::kByte).device(device));
        model = Model(weightsOf(all), prepared.data_ptr());
        check(model.prepare(at::cuda::getCurrentCUDAStream(device.index())));
    }}

    std::vector<at::Tensor> forward(std::vector<at::Tensor> inputs)
    {{
        const c10::cuda::CUDAGuard guard(device);
        const cudaStream_t stream = at::cuda::getCurrentCUDAStream(device.index());
{2}    }}

    Model::Weights weightsOf([[maybe_unused]] const std::vector<at::Tensor>& all)
    {{
        TORCH_CHECK(all.size() == {3}, "{0} has {3} weights, not ", all.size());
        Model::Weights weights;
{4}        return weights;
    }}

    const void* keep(const at::Tensor& tensor, at::ScalarType type, const std::vector<std::int64_t>& shape,
                     const char* name)
    {{
        kept.push_back(checked(tensor, type, static_cast<std::int64_t>(shape.size()), name));
        TORCH_CHECK(kept.back().sizes() == at::IntArrayRef(shape), name, " has another shape than ", shape);
        return kept.back().data_ptr();
    }}

    std::vector<at::Tensor> kept; ///< The weights that the model points to.
    at::Device device;
    at::Tensor prepared;
    Model model;
}};

std::vector<at::Tensor> forward(std::vector<at::Tensor> inputs, std::vector<at::Tensor> weights)
{{
    return PreparedModel(std::move(weights)).forward(std::move(inputs));
}}

}} // namespace

TORCH_LIBRARY({0}, library)
{{
    library.def("forward(Tensor[] inputs, Tensor[] weights) -> Tensor[]");
    library.impl("forward", c10::DispatchKey::CUDA, forward);
    library.class_<PreparedModel>("Model")
        .def(torch::init<std::vector<at::Tensor>>())
        .def("forward", &PreparedModel::forward);
}}
)",
        plan.name, library, forwardBody(plan, !library.empty()), plan.weights.size(), weights,
        includesOfTorch(), plan.symbols.empty() ? "" : "#include <algorithm>\n");
}

} // namespace kernelskill::engine::graph
