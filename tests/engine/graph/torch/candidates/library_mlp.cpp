// The model of tests/engine/graph/programs/mlp-dynamic.pt2, with every node left to a library.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" {

struct KernelskillLibrary {
    void* context;
    int (*run)(void* context, const char* node, const void* const* inputs, void* const* outputs,
               void* stream);
};

int kernelskillModelAbi() {
    return 1;
}

std::size_t kernelskillModelPreparedBytes() {
    return 0;
}

std::size_t kernelskillModelWorkspaceBytes(const std::int64_t* sizes) {
    constexpr std::size_t floatsOfRow = 3 * 96 + 10;
    return static_cast<std::size_t>(sizes[0]) * floatsOfRow * sizeof(float);
}

int kernelskillModelPrepare(const void* const*, void*, void*) {
    return 0;
}

int kernelskillModelForward(const void* const* weights, const void*, const void* const* inputs,
                            void* const* outputs, void* workspace, const std::int64_t* sizes,
                            const KernelskillLibrary* library, void* stream) {
    const auto rows = static_cast<std::size_t>(sizes[0]);
    auto* linear = static_cast<float*>(workspace);
    float* norm = linear + 96 * rows;
    float* gelu = norm + 96 * rows;
    float* last = gelu + 96 * rows;
    const char* cheat = std::getenv("KERNELSKILL_TEST_CHEAT");
    const bool isWrong = cheat != nullptr && std::string(cheat) == "unknown node";
    const auto run = [&](const char* node, std::initializer_list<const void*> from, void* to) {
        return library->run(library->context, node, from.begin(), &to, stream);
    };
    int status = run(isWrong ? "linear_7" : "linear", {inputs[0], weights[0], weights[1]}, linear);
    status += run("layer_norm", {linear, weights[2], weights[3]}, norm);
    status += run("gelu", {norm}, gelu);
    status += run("linear_1", {gelu, weights[4], weights[5]}, last);
    status += run("softmax", {last}, outputs[0]);
    return status;
}

} // extern "C"
