// Times the example of every skill before and after the edit, on the GPU that is there.
//
// Both versions run in turn on the same inputs. Between two runs a buffer larger than the L2 cache
// is overwritten. Each time is that of one launch between two events. The table says how far the
// outputs of the two versions differ, so that a wrong edit cannot look fast. Build and run it with
// script/bench-skills.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace address_strength_reduction_before {
#include "skills/address-strength-reduction/before.cu"
}
namespace address_strength_reduction_after {
#include "skills/address-strength-reduction/after.cu"
}
namespace async_copy_before {
#include "skills/async-copy/before.cu"
}
namespace async_copy_after {
#include "skills/async-copy/after.cu"
}
namespace software_prefetch_before {
#include "skills/software-prefetch/before.cu"
}
namespace software_prefetch_after {
#include "skills/software-prefetch/after.cu"
}
namespace vectorized_math_before {
#include "skills/vectorized-math/before.cu"
}
namespace vectorized_math_after {
#include "skills/vectorized-math/after.cu"
}
namespace vectorization_refinement_before {
#include "skills/vectorization-refinement/before.cu"
}
namespace vectorization_refinement_after {
#include "skills/vectorization-refinement/after.cu"
}
namespace loop_unrolling_before {
#include "skills/loop-unrolling/before.cu"
}
namespace loop_unrolling_after {
#include "skills/loop-unrolling/after.cu"
}
namespace restrict_and_const_before {
#include "skills/restrict-and-const/before.cu"
}
namespace restrict_and_const_after {
#include "skills/restrict-and-const/after.cu"
}
namespace vectorized_access_before {
#include "skills/vectorized-access/before.cu"
}
namespace vectorized_access_after {
#include "skills/vectorized-access/after.cu"
}
namespace shared_memory_padding_before {
#include "skills/shared-memory-padding/before.cu"
}
namespace shared_memory_padding_after {
#include "skills/shared-memory-padding/after.cu"
}
namespace warp_shuffle_reduction_before {
#include "skills/warp-shuffle-reduction/before.cu"
}
namespace warp_shuffle_reduction_after {
#include "skills/warp-shuffle-reduction/after.cu"
}
namespace grid_stride_loop_before {
#include "skills/grid-stride-loop/before.cu"
}
namespace grid_stride_loop_after {
#include "skills/grid-stride-loop/after.cu"
}
namespace atomics_privatization_before {
#include "skills/atomics-privatization/before.cu"
}
namespace atomics_privatization_after {
#include "skills/atomics-privatization/after.cu"
}
namespace fast_math_intrinsics_before {
#include "skills/fast-math-intrinsics/before.cu"
}
namespace fast_math_intrinsics_after {
#include "skills/fast-math-intrinsics/after.cu"
}
namespace memory_level_parallelism_before {
#include "skills/memory-level-parallelism/before.cu"
}
namespace memory_level_parallelism_after {
#include "skills/memory-level-parallelism/after.cu"
}
namespace warp_uniform_control_flow_before {
#include "skills/warp-uniform-control-flow/before.cu"
}
namespace warp_uniform_control_flow_after {
#include "skills/warp-uniform-control-flow/after.cu"
}
namespace coalesced_access_before {
#include "skills/coalesced-access/before.cu"
}
namespace coalesced_access_after {
#include "skills/coalesced-access/after.cu"
}
namespace launch_tuning_before {
#include "skills/launch-tuning/before.cu"
}
namespace launch_tuning_after {
#include "skills/launch-tuning/after.cu"
}
namespace thread_coarsening_before {
#include "skills/thread-coarsening/before.cu"
}
namespace thread_coarsening_after {
#include "skills/thread-coarsening/after.cu"
}
namespace block_swizzle_before {
#include "skills/block-swizzle/before.cu"
}
namespace block_swizzle_after {
#include "skills/block-swizzle/after.cu"
}
namespace cuda_graph_replay_before {
#include "skills/cuda-graph-replay/before.cu"
}
namespace cuda_graph_replay_after {
#include "skills/cuda-graph-replay/after.cu"
}
namespace stream_overlap_before {
#include "skills/stream-overlap/before.cu"
}
namespace stream_overlap_after {
#include "skills/stream-overlap/after.cu"
}

namespace launch_bounds_before {
#include "skills/launch-bounds/before.cu"
}
namespace launch_bounds_after {
#include "skills/launch-bounds/after.cu"
}
namespace live_range_reduction_before {
#include "skills/live-range-reduction/before.cu"
}
namespace live_range_reduction_after {
#include "skills/live-range-reduction/after.cu"
}
namespace occupancy_shared_memory_tradeoff_before {
#include "skills/occupancy-shared-memory-tradeoff/before.cu"
}
namespace occupancy_shared_memory_tradeoff_after {
#include "skills/occupancy-shared-memory-tradeoff/after.cu"
}
namespace reduced_unrolling_before {
#include "skills/reduced-unrolling/before.cu"
}
namespace reduced_unrolling_after {
#include "skills/reduced-unrolling/after.cu"
}

namespace {

constexpr int rounds = 101;
constexpr std::size_t flushBytes = 256u << 20;

void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess)
        return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

/// Device memory with random floats in [-1, 1); the same for the same seed.
class Buffer {
public:
    Buffer(std::size_t count, unsigned seed) : host_(count) {
        std::mt19937 generator(seed);
        std::uniform_real_distribution<float> values(-1.0f, 1.0f);
        std::generate(host_.begin(), host_.end(), [&] { return values(generator); });
        check(cudaMalloc(&device_, count * sizeof(float)), "cudaMalloc");
        reset();
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { cudaFree(device_); }

    float* get() const { return device_; }
    void reset() {
        check(
            cudaMemcpy(device_, host_.data(), host_.size() * sizeof(float), cudaMemcpyHostToDevice),
            "copy");
    }
    std::vector<float> read() const {
        std::vector<float> values(host_.size());
        check(cudaMemcpy(values.data(), device_, values.size() * sizeof(float),
                         cudaMemcpyDeviceToHost),
              "copy");
        return values;
    }

private:
    std::vector<float> host_;
    float* device_ = nullptr;
};

struct Spread {
    double lower, median, upper; // quartiles, microseconds
};

Spread spread(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return {times[times.size() / 4], times[times.size() / 2], times[times.size() * 3 / 4]};
}

class Bench {
public:
    Bench() {
        check(cudaMalloc(&flush_, flushBytes), "cudaMalloc");
        check(cudaEventCreate(&start_), "event");
        check(cudaEventCreate(&stop_), "event");
    }

    /// `before` and `after` launch one version each; `output` is what they write.
    void compare(const std::string& skill, const std::string& size, Buffer& output,
                 const std::function<void()>& before, const std::function<void()>& after) {
        output.reset();
        before();
        const std::vector<float> expected = output.read();
        output.reset();
        after();
        const std::vector<float> actual = output.read();
        double worst = 0;
        double scale = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            worst = std::max(worst, std::fabs(double(expected[i]) - double(actual[i])));
            scale = std::max(scale, std::fabs(double(expected[i])));
        }
        std::vector<double> times[2];
        std::vector<double> ratios;
        for (int round = -5; round < rounds; ++round) {
            // The order changes each round, so that neither version profits from its place.
            const bool swap = (round & 1) != 0;
            const double first = time(swap ? after : before);
            const double second = time(swap ? before : after);
            if (round < 0)
                continue;
            times[0].push_back(swap ? second : first);
            times[1].push_back(swap ? first : second);
            ratios.push_back(times[0].back() / times[1].back());
        }
        const Spread a = spread(times[0]);
        const Spread b = spread(times[1]);
        const Spread r = spread(ratios);
        std::printf("| %s | %s | %.1f (%.1f–%.1f) | %.1f (%.1f–%.1f) | %.2f (%.2f–%.2f) | %.1e |\n",
                    skill.c_str(), size.c_str(), a.median, a.lower, a.upper, b.median, b.lower,
                    b.upper, r.median, r.lower, r.upper, scale > 0 ? worst / scale : worst);
    }

private:
    double time(const std::function<void()>& launch) {
        check(cudaMemsetAsync(flush_, 0, flushBytes), "flush");
        check(cudaEventRecord(start_), "event");
        launch();
        check(cudaEventRecord(stop_), "event");
        check(cudaDeviceSynchronize(), "launch");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start_, stop_), "event");
        return milliseconds * 1000.0;
    }

    void* flush_ = nullptr;
    cudaEvent_t start_ = nullptr;
    cudaEvent_t stop_ = nullptr;
};

} // namespace

int main() {
    cudaDeviceProp device{};
    check(cudaGetDeviceProperties(&device, 0), "no CUDA device");
    int driver = 0;
    check(cudaDriverGetVersion(&driver), "driver");
    std::printf(
        "GPU: %s, %d SMs, driver for CUDA %d.%d. %d rounds; median (quartiles) of one launch in "
        "microseconds, L2 flushed before each.\n\n",
        device.name, device.multiProcessorCount, driver / 1000, driver % 1000 / 10, rounds);
    std::printf("| skill | size | before | after | before / after | largest scaled difference |\n");
    std::printf("|---|---|---|---|---|---|\n");
    Bench bench;
    for (const int n : {1 << 20, (1 << 24) + 3, 1 << 26}) {
        const std::string size = "n=" + std::to_string(n);
        Buffer x(n, 1);
        Buffer y(n, 2);
        Buffer wide(2 * std::size_t(n), 3);
        Buffer sums((n + 255) / 256, 4);
        Buffer weights(1, 5);
        bench.compare(
            "vectorized-access", size, y,
            [&] { vectorized_access_before::launchSaxpy(n, 2.0f, x.get(), y.get()); },
            [&] { vectorized_access_after::launchSaxpy(n, 2.0f, x.get(), y.get()); });
        bench.compare(
            "restrict-and-const", size, wide,
            [&] {
                restrict_and_const_before::launchBlend(wide.get(), x.get(), y.get(), weights.get(),
                                                       n);
            },
            [&] {
                restrict_and_const_after::launchBlend(wide.get(), x.get(), y.get(), weights.get(),
                                                      n);
            });
        bench.compare(
            "warp-shuffle-reduction", size, sums,
            [&] { warp_shuffle_reduction_before::launchBlockSum(x.get(), sums.get(), n); },
            [&] { warp_shuffle_reduction_after::launchBlockSum(x.get(), sums.get(), n); });
        bench.compare(
            "grid-stride-loop", size, y,
            [&] { grid_stride_loop_before::launchScale(y.get(), 1.0f, n); },
            [&] { grid_stride_loop_after::launchScale(y.get(), 1.0f, n); });
        bench.compare(
            "memory-level-parallelism", size, wide,
            [&] { memory_level_parallelism_before::launchDamp(x.get(), y.get(), wide.get(), n); },
            [&] { memory_level_parallelism_after::launchDamp(x.get(), y.get(), wide.get(), n); });
        bench.compare(
            "warp-uniform-control-flow", size, sums,
            [&] { warp_uniform_control_flow_before::launchBlockSum(x.get(), sums.get(), n); },
            [&] { warp_uniform_control_flow_after::launchBlockSum(x.get(), sums.get(), n); });
        // Bytes of floats, and counts that grow from launch to launch but never near 2^32.
        const auto bytes = [&] { return reinterpret_cast<const unsigned char*>(x.get()); };
        Buffer bins(64, 6);
        const auto counts = [&] { return reinterpret_cast<unsigned int*>(bins.get()); };
        bench.compare(
            "atomics-privatization", size, bins,
            [&] { atomics_privatization_before::launchHistogram(bytes(), counts(), n); },
            [&] { atomics_privatization_after::launchHistogram(bytes(), counts(), n); });
    }
    for (const int width : {1024, 4096, 8191}) {
        const int height = width - 1;
        Buffer in(std::size_t(width) * height, 1);
        Buffer out(std::size_t(width) * height, 2);
        bench.compare(
            "shared-memory-padding", std::to_string(width) + "×" + std::to_string(height), out,
            [&] {
                shared_memory_padding_before::launchTranspose(out.get(), in.get(), width, height);
            },
            [&] {
                shared_memory_padding_after::launchTranspose(out.get(), in.get(), width, height);
            });
    }
    for (const int columns : {64, 1023, 4096}) {
        const int rows = 16384;
        Buffer matrix(std::size_t(rows) * columns, 1);
        Buffer sums(rows, 2);
        bench.compare(
            "loop-unrolling", std::to_string(rows) + " rows of " + std::to_string(columns), sums,
            [&] { loop_unrolling_before::launchRowSums(matrix.get(), sums.get(), rows, columns); },
            [&] { loop_unrolling_after::launchRowSums(matrix.get(), sums.get(), rows, columns); });
    }
    for (const int columns : {256, 4096}) {
        const int rows = 8192;
        const std::string size = std::to_string(rows) + " rows of " + std::to_string(columns);
        Buffer matrix(std::size_t(rows) * columns, 1);
        Buffer bias(columns, 2);
        Buffer out(std::size_t(rows) * columns, 3);
        Buffer means(rows, 4);
        bench.compare(
            "coalesced-access", size, out,
            [&] {
                coalesced_access_before::launchAddBias(matrix.get(), bias.get(), out.get(), rows,
                                                       columns);
            },
            [&] {
                coalesced_access_after::launchAddBias(matrix.get(), bias.get(), out.get(), rows,
                                                      columns);
            });
        bench.compare(
            "launch-tuning", size, means,
            [&] { launch_tuning_before::launchRowMeans(matrix.get(), means.get(), columns); },
            [&] { launch_tuning_after::launchRowMeans(matrix.get(), means.get(), columns); });
    }
    for (const int n : {511, 1024, 4096}) {
        Buffer a(std::size_t(n) * 32, 1);
        Buffer b(std::size_t(n) * 32, 2);
        Buffer c(std::size_t(n) * n, 3);
        bench.compare(
            "thread-coarsening", std::to_string(n) + "²×32", c,
            [&] { thread_coarsening_before::launchMultiply(a.get(), b.get(), c.get(), n, n); },
            [&] { thread_coarsening_after::launchMultiply(a.get(), b.get(), c.get(), n, n); });
    }
    for (const int rights : {1000, 8192, 16384}) {
        const int lefts = 500;
        const int length = 4096;
        Buffer left(std::size_t(lefts) * length, 1);
        Buffer right(std::size_t(rights) * length, 2);
        Buffer result(std::size_t(lefts) * rights, 3);
        bench.compare(
            "block-swizzle",
            std::to_string(lefts) + "×" + std::to_string(rights) + " vectors of " +
                std::to_string(length),
            result,
            [&] {
                block_swizzle_before::launchProducts(left.get(), right.get(), result.get(), lefts,
                                                     rights, length);
            },
            [&] {
                block_swizzle_after::launchProducts(left.get(), right.get(), result.get(), lefts,
                                                    rights, length);
            });
    }
    for (const int count : {4096, 16384}) {
        Buffer bodies(std::size_t(count) * 4, 1);
        Buffer energies(count, 2);
        const auto positions = [&] { return reinterpret_cast<const float4*>(bodies.get()); };
        bench.compare(
            "fast-math-intrinsics", std::to_string(count) + " bodies", energies,
            [&] {
                fast_math_intrinsics_before::launchPotential(positions(), energies.get(), count,
                                                             2.0f);
            },
            [&] {
                fast_math_intrinsics_after::launchPotential(positions(), energies.get(), count,
                                                            2.0f);
            });
    }
    for (const int columns : {1000, 4096, 16384}) {
        const int rows = columns - 1;
        const std::size_t pixels = std::size_t(rows) * columns;
        Buffer in((pixels + 3) / 4, 1);
        Buffer out((pixels + 3) / 4, 2);
        Buffer rowGain(rows, 3);
        Buffer columnGain(columns, 4);
        const auto bytes = [](const Buffer& buffer) {
            return reinterpret_cast<unsigned char*>(buffer.get());
        };
        bench.compare(
            "address-strength-reduction", std::to_string(rows) + "×" + std::to_string(columns), out,
            [&] {
                address_strength_reduction_before::launchShade(
                    bytes(in), rowGain.get(), columnGain.get(), bytes(out), rows, columns);
            },
            [&] {
                address_strength_reduction_after::launchShade(
                    bytes(in), rowGain.get(), columnGain.get(), bytes(out), rows, columns);
            });
    }
    for (const int n : {1 << 10, 1 << 16, 1 << 20}) {
        // A thousand launches, the capture of the graph among what is timed.
        Buffer now(n, 1);
        Buffer next(n, 1);
        bench.compare(
            "cuda-graph-replay", "1000 steps of n=" + std::to_string(n), now,
            [&] { cuda_graph_replay_before::diffuse(now.get(), next.get(), n); },
            [&] { cuda_graph_replay_after::diffuse(now.get(), next.get(), n); });
    }
    for (const int rows : {1000, 4096, 16384}) {
        Buffer table(std::size_t(rows) * 4096, 1);
        Buffer sums(4096, 2);
        Buffer maxima(4096, 3);
        bench.compare(
            "stream-overlap", std::to_string(rows) + " rows of 4096", maxima,
            [&] { stream_overlap_before::summarise(table.get(), sums.get(), maxima.get(), rows); },
            [&] { stream_overlap_after::summarise(table.get(), sums.get(), maxima.get(), rows); });
    }
    for (const int n : {511, 1024, 4096}) {
        Buffer a(std::size_t(n) * n, 1);
        Buffer b(std::size_t(n) * n, 2);
        Buffer c(std::size_t(n) * n, 3);
        bench.compare(
            "software-prefetch", std::to_string(n) + "³", c,
            [&] { software_prefetch_before::launchMultiply(a.get(), b.get(), c.get(), n); },
            [&] { software_prefetch_after::launchMultiply(a.get(), b.get(), c.get(), n); });
    }
    for (const int n : {508, 1024, 4096}) {
        Buffer a(std::size_t(n) * n, 1);
        Buffer b(std::size_t(n) * n, 2);
        Buffer c(std::size_t(n) * n, 3);
        const auto quads = [](const Buffer& buffer) {
            return reinterpret_cast<float4*>(buffer.get());
        };
        bench.compare(
            "async-copy", std::to_string(n) + "³", c,
            [&] { async_copy_before::launchMultiply(quads(a), quads(b), quads(c), n, n / 4); },
            [&] { async_copy_after::launchMultiply(quads(a), quads(b), quads(c), n, n / 4); });
    }
    // Halves that are the parts of floats: bit patterns of all kinds.
    for (const int n : {1 << 20, (1 << 24) + 3, 1 << 26}) {
        Buffer weights((n + 1) / 2, 1);
        Buffer gradients((n + 1) / 2, 2);
        const auto halves = [](const Buffer& buffer) {
            return reinterpret_cast<__half*>(buffer.get());
        };
        bench.compare(
            "vectorized-math", "n=" + std::to_string(n), weights,
            [&] {
                vectorized_math_before::launchDescend(halves(weights), halves(gradients), 0.1f,
                                                      0.9f, n);
            },
            [&] {
                vectorized_math_after::launchDescend(halves(weights), halves(gradients), 0.1f, 0.9f,
                                                     n);
            });
    }
    for (const int cells : {1 << 16, 1 << 18, 1 << 20}) {
        const int each = 64;
        const float enough = 4; // of sums of random weights around 0: mostly all samples are taken
        Buffer samples(std::size_t(cells) * each * 4, 1);
        Buffer sums(std::size_t(cells) * 44, 2);
        const auto places = [&] { return reinterpret_cast<const float4*>(samples.get()); };
        bench.compare(
            "launch-bounds", std::to_string(cells) + " cells", sums,
            [&] {
                launch_bounds_before::launchNormalEquations(places(), sums.get(), cells, each,
                                                            enough);
            },
            [&] {
                launch_bounds_after::launchNormalEquations(places(), sums.get(), cells, each,
                                                           enough);
            });
    }
    for (const int width : {1000, 2000}) {
        const int layers = 64;
        const std::size_t columns = std::size_t(width) * width;
        Buffer water(columns * layers, 1);
        Buffer surface(columns * 4, 2);
        Buffer rates(columns * 4, 3);
        Buffer soils(columns * 4, 4);
        Buffer smooth(columns * layers, 5);
        Buffer ground(columns * 4, 6);
        const auto vectors = [](const Buffer& buffer) {
            return reinterpret_cast<float4*>(buffer.get());
        };
        bench.compare(
            "live-range-reduction", std::to_string(width) + "²×" + std::to_string(layers), ground,
            [&] {
                live_range_reduction_before::launchSmoothColumns(
                    water.get(), vectors(surface), vectors(rates), vectors(soils), smooth.get(),
                    vectors(ground), width, width, layers);
            },
            [&] {
                live_range_reduction_after::launchSmoothColumns(
                    water.get(), vectors(surface), vectors(rates), vectors(soils), smooth.get(),
                    vectors(ground), width, width, layers);
            });
    }
    for (const int rows : {1 << 16, 1 << 20}) {
        Buffer in(std::size_t(rows) * 32, 1);
        Buffer out(std::size_t(rows) * 32, 2);
        bench.compare(
            "occupancy-shared-memory-tradeoff", std::to_string(rows) + " rows of 32", out,
            [&] {
                occupancy_shared_memory_tradeoff_before::launchSortRows(in.get(), out.get(), rows);
            },
            [&] {
                occupancy_shared_memory_tradeoff_after::launchSortRows(in.get(), out.get(), rows);
            });
    }
    for (const int n : {1 << 20, 1 << 24}) {
        Buffer samples(n, 1);
        Buffer means(64, 2);
        Buffer inverses(64, 3);
        Buffer weights(64, 4);
        Buffer out(n, 5);
        bench.compare(
            "reduced-unrolling", "n=" + std::to_string(n), out,
            [&] {
                reduced_unrolling_before::launchLikelihood(
                    samples.get(), means.get(), inverses.get(), weights.get(), out.get(), n);
            },
            [&] {
                reduced_unrolling_after::launchLikelihood(
                    samples.get(), means.get(), inverses.get(), weights.get(), out.get(), n);
            });
    }
    for (const int n : {1 << 20, (1 << 24) + 3, 1 << 26}) {
        Buffer spectrum(2 * std::size_t(n), 1);
        Buffer response(2 * std::size_t(n), 2);
        const auto pairs = [](const Buffer& buffer) {
            return reinterpret_cast<float2*>(buffer.get());
        };
        bench.compare(
            "vectorization-refinement", "n=" + std::to_string(n), spectrum,
            [&] {
                vectorization_refinement_before::launchFilter(pairs(spectrum), pairs(response),
                                                              1.5f, n);
            },
            [&] {
                vectorization_refinement_after::launchFilter(pairs(spectrum), pairs(response), 1.5f,
                                                             n);
            });
    }
    // The same kernel against itself: what the method calls equal.
    const int n = 1 << 24;
    Buffer x(n, 1);
    Buffer y(n, 2);
    bench.compare(
        "(control: before against before)", "n=" + std::to_string(n), y,
        [&] { vectorized_access_before::launchSaxpy(n, 2.0f, x.get(), y.get()); },
        [&] { vectorized_access_before::launchSaxpy(n, 2.0f, x.get(), y.get()); });
}
