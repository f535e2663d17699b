#include "engine/graph/model/abi_source.h"

#include "engine/graph/kernels/kernel_draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine::graph {

using analysis::raise::Buffer;

namespace {

/// The definition of kernelskillModelSizes().
std::string sizesFunction(const ModelPlan& plan) {
    std::string shapes;
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
        const Buffer& buffer = plan.program.buffers.at(plan.inputs[i].buffer);
        for (std::size_t axis = 0; axis < buffer.shape.size(); ++axis)
            shapes +=
                fmt::format("    shapes.{0}[{2}] = extents[{1}][{2}];\n", buffer.name, i, axis);
    }
    std::string sizes;
    for (std::size_t i = 0; i < plan.symbols.size(); ++i)
        sizes += fmt::format("    sizes[{}] = found.{};\n", i, plan.symbols[i]);
    return fmt::format(
        "int kernelskillModelSizes(const int64_t* const* extents, int64_t* sizes, char* why, "
        "size_t whyBytes)\n{{\n"
        "    Model::Shapes shapes;\n{}    Model::Sizes found;\n"
        "    const std::string problem = Model::sizesOf(shapes, found);\n{}"
        "    if (whyBytes > 0)\n        why[problem.copy(why, whyBytes - 1)] = '\\0';\n"
        "    return problem.empty() ? 0 : 1;\n}}\n\n",
        shapes, sizes);
}

} // namespace

std::string abiHeader(const ModelPlan& plan) {
    const std::string_view sizes =
        plan.symbols.empty()
            ? ""
            : R"(/* Takes the sizes from the inputs' extents: `extents` has those of each input, the outermost first. Returns 1 if the
   program does not take them: `why`, of whyBytes, says in a sentence which. Otherwise 0. */
int kernelskillModelSizes(const int64_t* const* extents, int64_t* sizes, char* why, size_t whyBytes);
)";
    return R"(/* The C interface of a generated model, for programs that load it at run time. Pointers are device memory, tensors
   contiguous, but for kernelskillModelChannelsLast(). Functions that return int return a cudaError_t. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a node of the graph that no kernel was made for, on the stream. Its outputs go where `outputs` say; for one that is
   null, the library gives memory of its own, which stays valid until the work of this call of forward has run. */
struct KernelskillLibrary {
    void* context;
    int (*run)(void* context, const char* node, const void* const* inputs, void** outputs, void* stream);
};

/* 1; 2 for a model with nodes in channels-last order. */
int kernelskillModelAbi(void);
size_t kernelskillModelPreparedBytes(void);
)" + std::string(sizes) +
           R"(/* Sizes are the values of the program's symbols, in the order of their names. */
size_t kernelskillModelWorkspaceBytes(const int64_t* sizes);
/* Weights are the graph's inputs that are no user's, in its order. */
int kernelskillModelPrepare(const void* const* weights, void* prepared, void* stream);
/* Whether the output of that place may be null in a call of forward: then the library that runs the node keeps the result. */
int kernelskillModelLibraryOutput(int output);
/* Whether the library has to compute that node in float32, even if others may use TF32. */
int kernelskillModelNeedsFloat32(const char* node);
/* Whether the node's tensors of four or more axes have the second axis innermost in memory (channels-last order). */
int kernelskillModelChannelsLast(const char* node);
/* Inputs and outputs are the user's tensors, in the graph's order. The library may be null if all nodes have kernels. */
int kernelskillModelForward(const void* const* weights, const void* prepared, const void* const* inputs,
                            void* const* outputs, void* workspace, const int64_t* sizes,
                            const struct KernelskillLibrary* library, void* stream);

#ifdef __cplusplus
}
#endif
)";
}

std::string abiSource(const ModelPlan& plan) {
    const auto fill = [&](std::string_view object, const std::vector<ModelTensor>& tensors,
                          std::string_view list, std::string_view qualifier) {
        std::string text;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            const Buffer& buffer = plan.program.buffers.at(tensors[i].buffer);
            text += fmt::format("    {}.{} = static_cast<{}{}*>({}[{}]);\n", object, buffer.name,
                                qualifier, analysis::raise::spelling(buffer.element), list, i);
        }
        return text;
    };
    std::string sizes;
    for (std::size_t i = 0; i < plan.symbols.size(); ++i)
        sizes += fmt::format("    given.{} = sizes[{}];\n", plan.symbols[i], i);
    const bool isSized = !plan.symbols.empty();
    const bool callsLibrary = !libraryCalls(plan).empty();
    const bool isTurned = !channelsLastCalls(plan).empty();
    std::string text = fmt::format(
        "#include \"model_abi.h\"\n\n#include \"model.h\"\n\nusing {0}::Model;\n\nnamespace {{\n\n"
        "[[maybe_unused]] Model::Weights weightsOf([[maybe_unused]] const void* const* weights)\n"
        "{{\n    Model::Weights all;\n{1}    return all;\n}}\n\n",
        plan.name, fill("all", plan.weights, "weights", "const "));
    if (isSized)
        text += fmt::format("Model::Sizes sizesOf(const int64_t* sizes)\n{{\n    Model::Sizes "
                            "given;\n{}    return given;\n}}\n\n",
                            sizes);
    if (callsLibrary)
        text += "class CalledLibrary : public Model::Library {\npublic:\n"
                "    explicit CalledLibrary(const KernelskillLibrary* library) : library_(library) "
                "{}\n"
                "    cudaError_t run(const char* node, const void* const* inputs, void** "
                "outputs, cudaStream_t stream) override\n"
                "    {\n"
                "        return library_ == nullptr\n"
                "                   ? cudaErrorNotSupported\n"
                "                   : static_cast<cudaError_t>(library_->run(library_->context, "
                "node, inputs, outputs, stream));\n"
                "    }\n\nprivate:\n    const KernelskillLibrary* library_;\n};\n\n";
    text += fmt::format(
        "}} // namespace\n\n"
        "int kernelskillModelAbi(void)\n{{\n    return {2};\n}}\n\n"
        "size_t kernelskillModelPreparedBytes(void)\n{{\n    return Model::preparedBytes;\n}}\n\n"
        "size_t kernelskillModelWorkspaceBytes(const int64_t*{0})\n{{\n"
        "    return Model::workspaceBytes({1});\n}}\n\n"
        "int kernelskillModelPrepare(const void* const* weights, void* prepared, void* stream)\n"
        "{{\n    return Model(weightsOf(weights), "
        "prepared).prepare(static_cast<cudaStream_t>(stream));\n}}\n\n",
        isSized ? " sizes" : "", isSized ? "sizesOf(sizes)" : "", isTurned ? 2 : 1);
    if (isSized)
        text += sizesFunction(plan);
    std::string outputs;
    const auto distinct = distinctOutputs(plan);
    for (const ModelTensor& tensor : distinct) {
        const auto at = std::ranges::find(plan.outputs, tensor.source, &ModelTensor::source);
        outputs +=
            fmt::format("    written.{} = static_cast<{}*>(outputs[{}]);\n",
                        plan.program.buffers.at(tensor.buffer).name,
                        analysis::raise::spelling(plan.program.buffers.at(tensor.buffer).element),
                        at - plan.outputs.begin());
    }
    // An output that is another one's tensor has no field of its own.
    std::string copies;
    for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
        const auto first =
            std::ranges::find(plan.outputs, plan.outputs[i].buffer, &ModelTensor::buffer) -
            plan.outputs.begin();
        const Buffer& buffer = plan.program.buffers.at(plan.outputs[i].buffer);
        if (first != static_cast<std::ptrdiff_t>(i))
            copies += fmt::format("    if (status == cudaSuccess)\n"
                                  "        status = cudaMemcpyAsync(outputs[{}], outputs[{}], "
                                  "sizeof({}) * ({}), cudaMemcpyDeviceToDevice,\n"
                                  "                                 "
                                  "static_cast<cudaStream_t>(stream));\n",
                                  i, first, analysis::raise::spelling(buffer.element),
                                  hostText(elementsOf(buffer.shape)));
    }
    if (!copies.empty())
        for (std::size_t i = 0; i < plan.symbols.size(); ++i)
            outputs += fmt::format("    [[maybe_unused]] const long long {} = sizes[{}];\n",
                                   plan.symbols[i], i);
    std::string free;
    for (const std::size_t place : outputsOfLibraries(plan))
        free += fmt::format("{}output == {}", free.empty() ? "" : " || ", place);
    text += fmt::format("int kernelskillModelLibraryOutput(int{})\n{{\n    return {};\n}}\n\n",
                        free.empty() ? "" : " output", free.empty() ? "0" : free);
    const auto ofNode = [&](std::string_view function, bool isNamed, std::string_view member) {
        text += fmt::format("int {}(const char*{})\n{{\n    return {};\n}}\n\n", function,
                            isNamed ? " node" : "",
                            isNamed ? fmt::format("Model::{}(node) ? 1 : 0", member) : "0");
    };
    ofNode("kernelskillModelNeedsFloat32", !plan.float32Nodes.empty(), "needsFloat32");
    ofNode("kernelskillModelChannelsLast", isTurned, "isChannelsLast");
    text += fmt::format(
        "int kernelskillModelForward(const void* const* weights, const void* prepared, const "
        "void* const* inputs,\n"
        "                            void* const* outputs, void* workspace, const int64_t*{5},\n"
        "                            const KernelskillLibrary*{6}, void* stream)\n{{\n"
        "    Model::Inputs read;\n{0}    Model::Outputs written;\n{1}{2}"
        "    {8} Model(weightsOf(weights), const_cast<void*>(prepared))\n"
        "        .forward(read, written, workspace{3}{4}, static_cast<cudaStream_t>(stream));\n"
        "{7}}}\n",
        fill("read", plan.inputs, "inputs", "const "), outputs,
        callsLibrary ? "    CalledLibrary called(library);\n" : "",
        isSized ? ", sizesOf(sizes)" : "", callsLibrary ? ", called" : "", isSized ? " sizes" : "",
        callsLibrary ? " library" : "", copies.empty() ? "" : copies + "    return status;\n",
        copies.empty() ? "return" : "cudaError_t status =");
    return text;
}

} // namespace kernelskill::engine::graph
