#include "engine/replay/recorder/memory_copies.h"

#include "engine/storage/size_text.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kernelskill::engine::replay {
namespace {

constexpr std::uint64_t chunkBytes = 256 * DeviceWork::pageBytes;

} // namespace

Result<OwnHostMemory> OwnHostMemory::allocate(const DeviceWork& work, std::uint64_t bytes) {
    const auto& driver = work.driver();
    void* memory = nullptr;
    if (auto done =
            driver.check("allocate page-locked memory",
                         driver.cuMemHostAlloc(&memory, std::max<std::uint64_t>(bytes, 1), 0));
        !done)
        return std::unexpected(done.error());
    return OwnHostMemory(work, static_cast<std::byte*>(memory));
}

OwnHostMemory::OwnHostMemory(OwnHostMemory&& other) noexcept
    : work_(other.work_), data_(std::exchange(other.data_, nullptr)) {}

OwnHostMemory& OwnHostMemory::operator=(OwnHostMemory&& other) noexcept {
    std::swap(work_, other.work_);
    std::swap(data_, other.data_);
    return *this;
}

OwnHostMemory::~OwnHostMemory() {
    if (data_ != nullptr && !work_->isLost())
        work_->driver().cuMemFreeHost(data_);
}

Result<MemoryCopy> CopyStore::copyOf(CUdeviceptr address, std::uint64_t bytes) {
    const auto& driver = work_.driver();
    if (bytes <= deviceLeft_) {
        if (auto memory = OwnMemory::allocate(work_, bytes)) {
            if (auto copied =
                    driver.check("copy memory", driver.cuMemcpyDtoDAsync(memory->address(), address,
                                                                         bytes, work_.stream()));
                !copied)
                return std::unexpected(copied.error());
            deviceLeft_ -= bytes;
            deviceBytes_ += bytes;
            return MemoryCopy(std::move(*memory), bytes);
        }
    }
    if (bytes > hostLeft_)
        return std::unexpected(
            Error{ErrorKind::Unsupported,
                  "the pause needs more memory than it may take: there is no room for a copy of " +
                      sizeText(bytes),
                  {},
                  "run the program with a smaller problem"});
    auto memory = OwnHostMemory::allocate(work_, bytes);
    if (!memory)
        return std::unexpected(memory.error());
    if (auto copied = driver.check("copy memory", driver.cuMemcpyDtoHAsync(memory->data(), address,
                                                                           bytes, work_.stream()));
        !copied)
        return std::unexpected(copied.error());
    hostLeft_ -= bytes;
    hostBytes_ += bytes;
    return MemoryCopy(std::move(*memory), bytes);
}

Result<void> CopyStore::restore(const MemoryCopy& copy, CUdeviceptr address) {
    const auto& driver = work_.driver();
    if (const auto* device = std::get_if<OwnMemory>(&copy.memory_))
        return driver.check(
            "restore memory",
            driver.cuMemcpyDtoDAsync(address, device->address(), copy.bytes(), work_.stream()));
    return driver.check("restore memory", driver.cuMemcpyHtoDAsync(
                                              address, std::get<OwnHostMemory>(copy.memory_).data(),
                                              copy.bytes(), work_.stream()));
}

Result<std::vector<std::vector<std::uint64_t>>>
CopyStore::differingPages(std::span<const Compared> parts) {
    std::vector<DeviceWork::Pair> pairs(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto* device = std::get_if<OwnMemory>(&parts[i].copy->memory_);
        if (device != nullptr && !parts[i].isByHost &&
            parts[i].address % DeviceWork::comparedBytes == 0)
            pairs[i] = {parts[i].address, device->address(), parts[i].copy->bytes()};
    }
    auto pages = work_.differingPages(pairs);
    if (!pages)
        return pages;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool isByDevice = pairs[i].bytes > 0;
        const std::uint64_t rest = isByDevice ? pairs[i].bytes % DeviceWork::comparedBytes : 0;
        if (isByDevice && rest == 0)
            continue;
        auto found = pagesByHost(parts[i], isByDevice ? pairs[i].bytes - rest : 0);
        if (!found)
            return std::unexpected(found.error());
        for (const std::uint64_t page : *found) {
            if ((*pages)[i].empty() || (*pages)[i].back() != page)
                (*pages)[i].push_back(page);
        }
    }
    return pages;
}

Result<std::vector<std::uint64_t>> CopyStore::pagesByHost(const Compared& part,
                                                          std::uint64_t begin) {
    std::vector<std::uint64_t> pages;
    const std::uint64_t bytes = part.copy->bytes();
    std::vector<std::byte> live(std::min(chunkBytes, bytes - begin));
    std::vector<std::byte> kept(live.size());
    for (std::uint64_t offset = begin; offset < bytes; offset += chunkBytes) {
        const std::uint64_t count = std::min(chunkBytes, bytes - offset);
        auto done = read(part.address + offset, std::span(live).first(count));
        if (done)
            done = read(*part.copy, offset, std::span(kept).first(count));
        if (!done)
            return std::unexpected(done.error());
        for (std::uint64_t at = 0; at < count; at += DeviceWork::pageBytes) {
            const std::uint64_t size = std::min(DeviceWork::pageBytes, count - at);
            if (std::memcmp(live.data() + at, kept.data() + at, size) != 0)
                pages.push_back((offset + at) / DeviceWork::pageBytes);
        }
    }
    return pages;
}

Result<void> CopyStore::read(CUdeviceptr address, std::span<std::byte> into) {
    const auto& driver = work_.driver();
    if (auto copied =
            driver.check("read memory", driver.cuMemcpyDtoHAsync(into.data(), address, into.size(),
                                                                 work_.stream()));
        !copied)
        return copied;
    return work_.finish();
}

Result<void> CopyStore::read(const MemoryCopy& copy, std::uint64_t offset,
                             std::span<std::byte> into) {
    if (const auto* device = std::get_if<OwnMemory>(&copy.memory_))
        return read(device->address() + offset, into);
    std::memcpy(into.data(), std::get<OwnHostMemory>(copy.memory_).data() + offset, into.size());
    return {};
}

} // namespace kernelskill::engine::replay
