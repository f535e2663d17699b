#include "engine/execution/gpu/runner/device_fill.h"

#include "engine/execution/buffer_fill.h"
#include "engine/execution/captured_data.h"
#include "engine/execution/gpu/runner/helper_launch.h"

#include <algorithm>
#include <functional>
#include <span>
#include <thread>
#include <vector>

namespace kernelskill::engine::gpu {
namespace {

using analysis::ScalarKind;

constexpr std::uint64_t filledWordBytes = 4;
constexpr std::uint64_t hostChunk = 64ull << 20;
constexpr std::uint64_t minShareBytes = 1ull << 20; // The minimum for each thread that fills.
constexpr std::uint64_t shareUnit = 4096;           // fillBuffer() requires multiples of 16.

void fillOnAllCores(const BufferSpec& spec, std::uint64_t seed, std::uint64_t offset,
                    std::span<std::byte> bytes) {
    const std::uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
    const auto share = std::max(minShareBytes, bytes.size() / cores / shareUnit * shareUnit);
    std::vector<std::jthread> threads;
    while (bytes.size() > share) {
        threads.emplace_back(fillBuffer, std::cref(spec), seed, offset, bytes.first(share));
        offset += share;
        bytes = bytes.subspan(share);
    }
    fillBuffer(spec, seed, offset, bytes);
}

Result<void> fillFromHost(const CudaDriver& driver, const BufferSpec& spec, std::uint64_t seed,
                          CUdeviceptr address, std::uint64_t bytes) {
    std::vector<std::byte> chunk(std::min(bytes, hostChunk));
    for (std::uint64_t offset = 0; offset < bytes; offset += chunk.size()) {
        const auto part =
            std::span(chunk).first(std::min<std::uint64_t>(chunk.size(), bytes - offset));
        fillOnAllCores(spec, seed, offset, part);
        if (auto copied =
                driver.check("copy a buffer to the GPU",
                             driver.cuMemcpyHtoD(address + offset, part.data(), part.size()));
            !copied)
            return copied;
    }
    return {};
}

Result<void> fillFromFile(const CudaDriver& driver, const BufferSpec& spec, CUdeviceptr address,
                          std::uint64_t bytes) {
    if (!spec.captured)
        return std::unexpected(
            Error{ErrorKind::Internal, "no file for the captured '" + spec.name + "'", {}, {}});
    const auto file = openCapturedFile(spec.captured->before);
    if (!file)
        return std::unexpected(file.error());
    std::vector<std::byte> chunk(std::min(bytes, hostChunk));
    for (std::uint64_t offset = 0; offset < bytes; offset += chunk.size()) {
        const auto part =
            std::span(chunk).first(std::min<std::uint64_t>(chunk.size(), bytes - offset));
        fillFromCaptured(spec, file->bytes(), offset, part);
        if (auto copied =
                driver.check("copy a buffer to the GPU",
                             driver.cuMemcpyHtoD(address + offset, part.data(), part.size()));
            !copied)
            return copied;
    }
    return {};
}

bool isWord(ScalarKind kind) {
    return kind == ScalarKind::Int32 || kind == ScalarKind::UInt32 || kind == ScalarKind::Unknown ||
           kind == ScalarKind::Void;
}

} // namespace

Result<void> fillDevice(Device& device, const BufferSpec& spec, std::uint64_t seed,
                        CUdeviceptr address, std::uint64_t bytes) {
    const auto& driver = device.driver();
    if (spec.fill == Fill::Captured && spec.isInput)
        return fillFromFile(driver, spec, address, bytes);
    if (bytes == 0 || bytes % filledWordBytes != 0)
        return fillFromHost(driver, spec, seed, address, bytes);
    const auto words = bytes / filledWordBytes;
    const auto set = [&](std::uint32_t word) {
        return driver.check("fill a buffer",
                            driver.cuMemsetD32Async(address, word, words, device.stream()));
    };
    if (!spec.isInput || spec.fill == Fill::Poison)
        return set(poisonWord);
    if (spec.fill == Fill::Zero)
        return set(0);
    const bool isFloat = spec.element == ScalarKind::Float;
    if (spec.fill != Fill::Random || !(isFloat || isWord(spec.element)))
        return fillFromHost(driver, spec, seed, address, bytes);
    const auto helpers = Helpers::load(device);
    if (!helpers)
        return std::unexpected(helpers.error());
    return helpers->launch(isFloat ? helpers->fillFloat : helpers->fillWord,
                           {seed, address, words, static_cast<std::uint64_t>(randomRange(spec))});
}

} // namespace kernelskill::engine::gpu
