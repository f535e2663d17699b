/// The GPUs that estimates can be made for, read from gpus.yaml.
#pragma once

#include "analysis/compile/compute_capability.h"
#include "analysis/source/error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// The throughput that programs reached on the GPU itself, beside the peaks of its datasheet.
struct KnownCeilings {
    double copyBytesPerSecond = 0; ///< Bytes read plus bytes written by a plain copy.
    double singleFlops = 0;        ///< Reached by a matrix product.
};

struct Gpu {
    std::string name;    ///< "H100-PCIe": the name by which users choose it.
    std::string product; ///< "H100 PCIe"
    analysis::ComputeCapability capability;
    std::uint32_t multiprocessors = 0;
    double boostHertz = 0;
    double singleFlops = 0; ///< Peak; a multiply-add counts as two.
    double doubleFlops = 0;
    double tensorFlops = 0; ///< fp16 products summed in fp32, without sparsity.
    double memoryBytesPerSecond = 0;
    double cacheBytes = 0; ///< The L2 cache.
    std::optional<KnownCeilings> measured;
    /// The source of each number, by its name in the file.
    std::map<std::string, std::string> sources;
};

/// "an H200", "a V100"
[[nodiscard]] std::string withArticle(const Gpu& gpu);

/// The operations per byte above which arithmetic takes longer than memory traffic.
struct Balance {
    double operationsPerByte = 0;
    /// True if it follows from measured ceilings; else from the datasheet's peaks.
    bool isMeasured = false;
};
[[nodiscard]] Balance singleBalance(const Gpu& gpu); ///< For fp32 arithmetic.
[[nodiscard]] Balance doubleBalance(const Gpu& gpu); ///< For fp64 arithmetic.

/// Fails with InvalidInput and the line of the first mistake. A number without a source is one.
[[nodiscard]] Result<std::vector<Gpu>> parseGpuTable(std::string_view yaml);

/// The text of gpus.yaml that this program was built with.
[[nodiscard]] std::string_view builtinGpuText();
/// The parsed text. Its errors are a defect of the build; a test prevents them.
[[nodiscard]] const Result<std::vector<Gpu>>& builtinGpus();

/// Finds a GPU by its name or product, as a user or a driver writes it: "h200", "NVIDIA H100 PCIe",
/// "GeForce RTX 4090". Returns the first match ("A100" has several); nullptr if there is none.
[[nodiscard]] const Gpu* gpuNamed(const std::vector<Gpu>& gpus, std::string_view name);

} // namespace kernelskill::engine
