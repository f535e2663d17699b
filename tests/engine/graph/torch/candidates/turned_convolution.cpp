// One convolution, [2, 3, 5, 7] to [2, 4, 3, 5], left to a library that has its images in
// channels-last order.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern "C" {

struct KernelskillLibrary {
    void* context;
    int (*run)(void* context, const char* node, const void* const* inputs, void** outputs,
               void* stream);
};

} // extern "C"

namespace {

std::string cheat() {
    const char* wanted = std::getenv("KERNELSKILL_TEST_CHEAT");
    return wanted != nullptr ? wanted : "";
}

/// [n, channels, places] as [n, places, channels].
std::vector<float> turned(const void* tensor, std::size_t n, std::size_t channels,
                          std::size_t places) {
    const auto* from = static_cast<const float*>(tensor);
    std::vector<float> to;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t place = 0; place < places; ++place)
            for (std::size_t channel = 0; channel < channels; ++channel)
                to.push_back(from[(i * channels + channel) * places + place]);
    return to;
}

} // namespace

extern "C" {

int kernelskillModelAbi() {
    return 2;
}

std::size_t kernelskillModelPreparedBytes() {
    return 0;
}

std::size_t kernelskillModelWorkspaceBytes(const std::int64_t*) {
    return 0;
}

int kernelskillModelPrepare(const void* const*, void*, void*) {
    return 0;
}

int kernelskillModelChannelsLast(const char* node) {
    return std::strcmp(node, "conv") == 0 && cheat() != "not named" ? 1 : 0;
}

int kernelskillModelForward(const void* const* weights, const void*, const void* const* inputs,
                            void* const* outputs, void*, const std::int64_t*,
                            const KernelskillLibrary* library, void* stream) {
    const std::vector<float> x = turned(inputs[0], 2, 3, 35);
    const std::vector<float> w = turned(weights[0], 4, 3, 9);
    std::vector<float> own(std::size_t{2} * 4 * 15);
    const void* const given[] = {x.data(), w.data()};
    void* result = cheat() == "own memory" ? own.data() : nullptr; // Else the library has it.
    const int status = library->run(library->context, "conv", given, &result, stream);
    if (status != 0)
        return status;
    const std::vector<float> y = turned(result, 2, 15, 4);
    std::memcpy(outputs[0], y.data(), y.size() * sizeof(float));
    return 0;
}

} // extern "C"
