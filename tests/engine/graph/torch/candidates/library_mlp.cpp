// The model of tests/engine/graph/programs/mlp-dynamic.pt2, with every node left to a library.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>

extern "C" {

struct KernelskillLibrary {
    void* context;
    int (*run)(void* context, const char* node, const void* const* inputs, void** outputs,
               void* stream);
};

int kernelskillModelAbi() {
    return 1;
}

std::size_t kernelskillModelPreparedBytes() {
    return 0;
}

std::size_t kernelskillModelWorkspaceBytes(const std::int64_t* sizes) {
    constexpr std::size_t floatsOfRow = 2 * 96 + 10;
    return static_cast<std::size_t>(sizes[0]) * floatsOfRow * sizeof(float);
}

int kernelskillModelPrepare(const void* const*, void*, void*) {
    return 0;
}

int kernelskillModelForward(const void* const* weights, const void*, const void* const* inputs,
                            void* const* outputs, void* workspace, const std::int64_t* sizes,
                            const KernelskillLibrary* library, void* stream) {
    const auto rows = static_cast<std::size_t>(sizes[0]);
    void* linear = nullptr; // The library has the memory.
    auto* norm = static_cast<float*>(workspace);
    float* gelu = norm + 96 * rows;
    float* last = gelu + 96 * rows;
    const char* cheat = std::getenv("KERNELSKILL_TEST_CHEAT");
    const bool isWrong = cheat != nullptr && std::string(cheat) == "unknown node";
    const bool endsEarly = cheat != nullptr && std::string(cheat) == "no softmax";
    const auto run = [&](const char* node, std::initializer_list<const void*> from, void** to) {
        return library->run(library->context, node, from.begin(), to, stream);
    };
    const auto write = [&](const char* node, std::initializer_list<const void*> from, void* to) {
        return run(node, from, &to);
    };
    int status = run(isWrong ? "linear_7" : "linear", {inputs[0], weights[0], weights[1]}, &linear);
    if (status != 0)
        return status;
    status += write("layer_norm", {linear, weights[2], weights[3]}, norm);
    status += write("gelu", {norm}, gelu);
    status += write("linear_1", {gelu, weights[4], weights[5]}, endsEarly ? outputs[0] : last);
    if (endsEarly)
        return status;
    status += write("softmax", {last}, outputs[0]);
    return status;
}

} // extern "C"
