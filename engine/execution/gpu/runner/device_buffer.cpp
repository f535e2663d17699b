#include "engine/execution/gpu/runner/device_buffer.h"

#include <algorithm>
#include <string>

namespace kernelskill::engine::gpu {
namespace {

constexpr std::uint8_t pattern = 0xA5;
/// The number of watched bytes before the buffer, in its first page.
constexpr std::uint64_t watchedBefore = 4096;

std::uint64_t roundedUp(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

CUmemAllocationProp deviceMemory(CUdevice device) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    return properties;
}

} // namespace

Result<std::unique_ptr<DeviceBuffer>> DeviceBuffer::create(const CudaDriver& driver,
                                                           CUdevice device, std::uint64_t bytes,
                                                           std::uint64_t shift) {
    std::unique_ptr<DeviceBuffer> buffer(new DeviceBuffer(driver, bytes));
    const auto properties = deviceMemory(device);
    std::size_t page = 0;
    if (auto asked =
            driver.check("page size", driver.cuMemGetAllocationGranularity(
                                          &page, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        !asked)
        return std::unexpected(asked.error());
    const auto mappedBytes = roundedUp(std::max<std::uint64_t>(bytes + shift, 1), page);
    if (auto reserved = driver.check(
            "reserve addresses",
            driver.cuMemAddressReserve(&buffer->reserved_, mappedBytes + 2 * page, page, 0, 0));
        !reserved)
        return std::unexpected(reserved.error());
    buffer->reservedBytes_ = mappedBytes + 2 * page;
    CUmemGenericAllocationHandle memory = 0;
    if (const auto status = driver.cuMemCreate(&memory, mappedBytes, &properties, 0);
        status != CUDA_SUCCESS) {
        auto error = driver.failure(
            ("allocate " + std::to_string(mappedBytes >> 20) + " MiB on the GPU").c_str(), status);
        error.remedy = "pin a smaller launch, or free memory of the GPU";
        return std::unexpected(std::move(error));
    }
    const CUdeviceptr begin = buffer->reserved_ + page;
    const auto mapped =
        driver.check("map memory", driver.cuMemMap(begin, mappedBytes, 0, memory, 0));
    // The mapping keeps the memory alive.
    static_cast<void>(driver.cuMemRelease(memory));
    if (!mapped)
        return std::unexpected(mapped.error());
    buffer->mapped_ = begin;
    buffer->mappedBytes_ = mappedBytes;
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (auto allowed =
            driver.check("allow access", driver.cuMemSetAccess(begin, mappedBytes, &access, 1));
        !allowed)
        return std::unexpected(allowed.error());
    buffer->address_ = begin + mappedBytes - roundedUp(bytes + shift, alignment) + shift;
    return buffer;
}

DeviceBuffer::~DeviceBuffer() {
    if (mapped_ != 0)
        driver_.cuMemUnmap(mapped_, mappedBytes_);
    if (reserved_ != 0)
        driver_.cuMemAddressFree(reserved_, reservedBytes_);
}

Result<void> DeviceBuffer::paintSurroundings() const {
    const auto before = std::min<std::uint64_t>(address_ - mapped_, watchedBefore);
    const auto after = mappedEnd() - (address_ + bytes_);
    if (before > 0) {
        if (auto set =
                driver_.check("paint a guard",
                              driver_.cuMemsetD8Async(address_ - before, pattern, before, nullptr));
            !set)
            return set;
    }
    if (after == 0)
        return {};
    return driver_.check("paint a guard",
                         driver_.cuMemsetD8Async(address_ + bytes_, pattern, after, nullptr));
}

Result<std::vector<std::int64_t>> DeviceBuffer::writesOutside() const {
    const auto before = std::min<std::uint64_t>(address_ - mapped_, watchedBefore);
    const std::uint64_t after = mappedEnd() - (address_ + bytes_);
    std::vector<std::uint8_t> bytes(std::max<std::uint64_t>(before, after));
    std::vector<std::int64_t> written;
    const auto look = [&](CUdeviceptr from, std::uint64_t count) -> Result<void> {
        if (count == 0)
            return {};
        if (auto copied =
                driver_.check("read a guard", driver_.cuMemcpyDtoH(bytes.data(), from, count));
            !copied)
            return copied;
        const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(count);
        const auto changed =
            std::find_if(bytes.begin(), end, [](std::uint8_t byte) { return byte != pattern; });
        if (changed != end)
            written.push_back(static_cast<std::int64_t>(from - address_) +
                              (changed - bytes.begin()));
        return {};
    };
    if (auto looked = look(address_ - before, before); !looked)
        return std::unexpected(looked.error());
    if (auto looked = look(address_ + bytes_, after); !looked)
        return std::unexpected(looked.error());
    return written;
}

} // namespace kernelskill::engine::gpu
