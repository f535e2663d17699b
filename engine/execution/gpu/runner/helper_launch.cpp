#include "engine/execution/gpu/runner/helper_launch.h"

#include "engine/execution/gpu/runner/helper_kernels.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kernelskill::engine::gpu {
namespace {

constexpr unsigned blocksPerMultiprocessor = 4; // Blocks of 512 threads: the maximum that fits.
/// The L2 cache does not replace strictly by age, so more than its size has to be read.
constexpr std::uint64_t sweepFactor = 3;
constexpr std::uint64_t minSweepBytes = 64ull << 20;

} // namespace

Result<Scratch> Scratch::allocate(const CudaDriver& driver, std::uint64_t bytes) {
    CUdeviceptr address = 0;
    if (auto allocated =
            driver.check("allocate memory of the runner's own", driver.cuMemAlloc(&address, bytes));
        !allocated)
        return std::unexpected(allocated.error());
    Scratch scratch(driver, address, bytes);
    if (auto cleared = driver.check(
            "clear memory", driver.cuMemsetD32Async(address, 0, bytes / sizeof(int), nullptr));
        !cleared)
        return std::unexpected(cleared.error());
    return scratch;
}

Scratch::Scratch(Scratch&& other) noexcept
    : driver_(other.driver_), address_(std::exchange(other.address_, 0)), bytes_(other.bytes_) {}

Scratch::~Scratch() {
    if (address_ != 0)
        driver_->cuMemFree(address_);
}

Result<Helpers> Helpers::load(Device& device) {
    const auto& driver = device.driver();
    const auto module = device.module(std::string(helperKernels()));
    if (!module)
        return std::unexpected(module.error());
    Helpers helpers(device);
    const std::pair<CUfunction*, const char*> wanted[] = {
        {&helpers.readMemory, "read_memory"}, {&helpers.copyMemory, "copy_memory"},
        {&helpers.fuseFloat, "fuse_float"},   {&helpers.fuseDouble, "fuse_double"},
        {&helpers.fillFloat, "fill_float"},   {&helpers.fillWord, "fill_word"}};
    for (const auto& [function, name] : wanted) {
        if (auto found = driver.check("find a helper kernel",
                                      driver.cuModuleGetFunction(function, *module, name));
            !found)
            return std::unexpected(found.error());
    }
    helpers.blocks_ = blocksPerMultiprocessor *
                      static_cast<unsigned>(
                          std::max(1, device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)));
    return helpers;
}

Result<void> Helpers::launch(CUfunction kernel, const HelperArguments& arguments) const {
    auto values = arguments;
    void* parameters[] = {&values.from, &values.to, &values.count, &values.window};
    const auto& driver = device_->driver();
    return driver.check("launch a helper kernel",
                        driver.cuLaunchKernel(kernel, blocks_, 1, 1, threadsPerBlock, 1, 1, 0,
                                              device_->stream(), parameters, nullptr));
}

Result<CacheSweep> CacheSweep::prepare(Device& device) {
    auto helpers = Helpers::load(device);
    if (!helpers)
        return std::unexpected(helpers.error());
    const auto cache =
        static_cast<std::uint64_t>(device.attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
    auto scratch = Scratch::allocate(device.driver(), std::max(minSweepBytes, sweepFactor * cache));
    if (!scratch)
        return std::unexpected(scratch.error());
    return CacheSweep(*helpers, std::move(*scratch));
}

Result<void> CacheSweep::operator()() const {
    return helpers_.launch(helpers_.readMemory, {scratch_.address(), scratch_.address(),
                                                 scratch_.bytes() / copiedWordBytes});
}

} // namespace kernelskill::engine::gpu
