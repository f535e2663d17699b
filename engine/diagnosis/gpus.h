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

/// What was reached on the GPU itself, beside the peaks of its datasheet.
struct KnownCeilings {
    double copyBytesPerSecond = 0; ///< Read plus written, of a plain copy.
    double singleFlops = 0;        ///< Of a matrix product.
};

struct Gpu {
    std::string name;    ///< "H100-PCIe": what a user chooses by.
    std::string product; ///< "H100 PCIe"
    analysis::ComputeCapability capability;
    std::uint32_t multiprocessors = 0;
    double boostHertz = 0;
    double singleFlops = 0; ///< Peaks; a multiply-add is two.
    double doubleFlops = 0;
    double tensorFlops = 0; ///< fp16 summed in fp32, without sparsity.
    double memoryBytesPerSecond = 0;
    double cacheBytes = 0; ///< L2.
    std::optional<KnownCeilings> measured;
    std::map<std::string, std::string> sources; ///< Of each number, by its name in the file.
};

/// "an H200", "a V100"
[[nodiscard]] std::string withArticle(const Gpu& gpu);

/// Operations per byte from which on arithmetic, and not memory, takes the longer time.
struct Balance {
    double operationsPerByte = 0;
    bool isMeasured = false; ///< Of ceilings that were measured; else of the datasheet's peaks.
};
[[nodiscard]] Balance singleBalance(const Gpu& gpu); ///< Of fp32 arithmetic.
[[nodiscard]] Balance doubleBalance(const Gpu& gpu); ///< Of fp64 arithmetic.

/// InvalidInput with the line of the first thing that is wrong, a number without a source included.
[[nodiscard]] Result<std::vector<Gpu>> parseGpuTable(std::string_view yaml);

/// The text of gpus.yaml that this program was built with.
[[nodiscard]] std::string_view builtinGpuText();
/// The same, parsed once. Its errors are a defect of the build; a test keeps them out.
[[nodiscard]] const Result<std::vector<Gpu>>& builtinGpus();

/// By its name or its product, as a user or a driver writes it: "h200", "NVIDIA H100 PCIe",
/// "GeForce RTX 4090". The first of several ("A100"); nullptr when there is none.
[[nodiscard]] const Gpu* gpuNamed(const std::vector<Gpu>& gpus, std::string_view name);

} // namespace kernelskill::engine
