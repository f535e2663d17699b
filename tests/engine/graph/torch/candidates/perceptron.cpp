// A model in the C interface of generated models, for a CPU: y = relu(x w' + b) and the sums of y's
// rows, of x[rows, 8], w[4, 8] and b[4]. KERNELSKILL_TEST_CHEAT says how it cheats; without it, it
// is honest.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t inputs = 8;
constexpr std::size_t outputs = 4;
constexpr int tf32Bits = 10;
constexpr int coarseBits = 3;

std::string cheat() {
    const char* name = std::getenv("KERNELSKILL_TEST_CHEAT");
    return name != nullptr ? name : "";
}

/// The number with so many bits behind its first.
float rounded(float value, int bits) {
    const auto mask = ~std::uint32_t{0} << (23 - bits);
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & mask);
}

struct Call {
    const float* x;
    const float* weight;
    const float* bias;
    float* y;
    float* sums;
    std::size_t rows;
    int bits = 23; ///< Bits of the operands' fractions.

    void compute() const {
        for (std::size_t row = 0; row < rows; ++row) {
            sums[row] = 0;
            for (std::size_t out = 0; out < outputs; ++out) {
                float sum = bias[out];
                for (std::size_t in = 0; in < inputs; ++in)
                    sum += rounded(x[row * inputs + in], bits) *
                           rounded(weight[out * inputs + in], bits);
                y[row * outputs + out] = std::isnan(sum) ? sum : std::max(sum, 0.0f);
                sums[row] += y[row * outputs + out];
            }
        }
    }
};

int calls = 0;

/// The earlier results by the place of the inputs.
std::map<const float*, std::vector<float>>& cache() {
    static std::map<const float*, std::vector<float>> results;
    return results;
}

void computeOnce(const Call& call) {
    auto [found, isNew] = cache().try_emplace(call.x);
    if (isNew) {
        call.compute();
        found->second.assign(call.y, call.y + call.rows * outputs);
        found->second.insert(found->second.end(), call.sums, call.sums + call.rows);
    }
    std::copy_n(found->second.data(), call.rows * outputs, call.y);
    std::copy_n(found->second.data() + call.rows * outputs, call.rows, call.sums);
}

/// The bytes that earlier owners of the memory left there.
void copyLeftovers(const Call& call) {
    const std::vector<float*> places{call.y, call.sums};
    const std::vector<std::size_t> counts{call.rows * outputs, call.rows};
    for (std::size_t i = 0; i < places.size(); ++i) {
        auto* memory = static_cast<float*>(std::malloc(counts[i] * sizeof(float)));
        std::copy_n(memory, counts[i], places[i]);
        std::free(memory);
    }
}

/// Another thread computes; what it has when the next call comes is that call's result.
void worksElsewhere(const Call& call) {
    static std::future<std::vector<float>> results;
    const std::vector<float> earlier = results.valid() ? results.get() : std::vector<float>();
    if (earlier.size() >= call.rows * (outputs + 1)) {
        std::copy_n(earlier.data(), call.rows * outputs, call.y);
        std::copy_n(earlier.data() + call.rows * outputs, call.rows, call.sums);
    }
    std::vector<float> x(call.x, call.x + call.rows * inputs);
    std::vector<float> weight(call.weight, call.weight + outputs * inputs);
    std::vector<float> bias(call.bias, call.bias + outputs);
    results = std::async(std::launch::async, [x, weight, bias, rows = call.rows] {
        std::vector<float> found(rows * (outputs + 1));
        Call{x.data(), weight.data(), bias.data(), found.data(), found.data() + rows * outputs,
             rows}
            .compute();
        return found;
    });
}

int run(Call call, float* workspace) {
    const std::string how = cheat();
    ++calls;
    const bool isUsual =
        std::all_of(call.x, call.x + call.rows * inputs, [](float x) { return std::abs(x) < 8; });
    if (how == "tf32")
        call.bits = tf32Bits;
    if (how == "coarse")
        call.bits = coarseBits;
    if (how == "caches results") {
        computeOnce(call);
    } else if (how == "works once" && calls > 2) {
        return 0;
    } else if (how == "works elsewhere") {
        worksElsewhere(call);
    } else if (how == "writes nothing") {
        return 0;
    } else if (how == "copies the workspace") {
        std::copy_n(workspace, call.rows * outputs, call.y);
        std::copy_n(workspace, call.rows, call.sums);
    } else if (how == "copies freed memory") {
        copyLeftovers(call);
    } else if (how == "usual inputs only" && !isUsual) {
        std::fill_n(call.y, call.rows * outputs, 1.0f);
        std::fill_n(call.sums, call.rows, float{outputs});
    } else if (how == "zeros") {
        std::fill_n(call.y, call.rows * outputs, 0.0f);
        std::fill_n(call.sums, call.rows, 0.0f);
    } else if (how == "constant") {
        std::fill_n(call.y, call.rows * outputs, 0.5f);
        std::fill_n(call.sums, call.rows, 2.0f);
    } else {
        call.compute();
    }
    if (how == "changes its input")
        const_cast<float*>(call.x)[1] += 1;
    if (how == "changes its weight")
        const_cast<float*>(call.weight)[1] *= 2;
    if (how == "writes beside its output")
        call.sums[call.rows] = 0;
    if (how == "writes beside its workspace")
        workspace[call.rows * outputs] = 0;
    if (how == "differs later" && calls % 3 == 0)
        call.y[0] = std::nextafter(call.y[0], 100.0f);
    // The trials take 54 calls.
    if (how == "rests when it is timed" && calls > 70)
        call.y[0] += 1;
    if (how == "stops the clock")
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
    return how == "fails" ? 700 : 0;
}

} // namespace

extern "C" {

struct KernelskillLibrary;

/// Replaces libc's function if the loader finds it first.
int clock_gettime(clockid_t, timespec* time) {
    *time = {};
    return 0;
}

int kernelskillModelAbi() {
    return cheat() == "another version" ? 3 : 1;
}

std::size_t kernelskillModelPreparedBytes() {
    return outputs * sizeof(float);
}

std::size_t kernelskillModelWorkspaceBytes(const std::int64_t* sizes) {
    return static_cast<std::size_t>(sizes[0]) * outputs * sizeof(float);
}

int kernelskillModelPrepare(const void* const* weights, void* prepared, void*) {
    std::copy_n(static_cast<const float*>(weights[1]), outputs, static_cast<float*>(prepared));
    return 0;
}

int kernelskillModelForward(const void* const* weights, const void* prepared,
                            const void* const* arguments, void* const* results, void* workspace,
                            const std::int64_t* sizes, const KernelskillLibrary*, void*) {
    return run({static_cast<const float*>(arguments[0]), static_cast<const float*>(weights[0]),
                static_cast<const float*>(prepared), static_cast<float*>(results[0]),
                static_cast<float*>(results[1]), static_cast<std::size_t>(sizes[0])},
               static_cast<float*>(workspace));
}

} // extern "C"
