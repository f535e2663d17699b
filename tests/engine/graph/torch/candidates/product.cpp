// A model in the C interface of generated models, for a CPU: the product of x[32, 256] and
// v[256, 16]. FRACTION_BITS is how many bits of the factors' fractions it keeps: 10, as TF32 does.
#include <bit>
#include <cstddef>
#include <cstdint>

namespace {

constexpr std::size_t rows = 32;
constexpr std::size_t depth = 256;
constexpr std::size_t columns = 16;

float rounded(float value) {
    const auto mask = ~std::uint32_t{0} << (23 - FRACTION_BITS);
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & mask);
}

} // namespace

extern "C" {

struct KernelskillLibrary;

int kernelskillModelAbi() {
    return 1;
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

int kernelskillModelForward(const void* const*, const void*, const void* const* inputs,
                            void* const* outputs, void*, const std::int64_t*,
                            const KernelskillLibrary*, void*) {
    const auto* x = static_cast<const float*>(inputs[0]);
    const auto* v = static_cast<const float*>(inputs[1]);
    auto* y = static_cast<float*>(outputs[0]);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column) {
            float sum = 0;
            for (std::size_t i = 0; i < depth; ++i)
                sum += rounded(x[row * depth + i]) * rounded(v[i * columns + column]);
            y[row * columns + column] = sum;
        }
    return 0;
}

} // extern "C"
