/// Copies of the program's memory, on the device as long as there is room, else in the host's
/// memory.
#pragma once

#include "engine/replay/recorder/device_work.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace kernelskill::engine::replay {

class CopyStore;

/// Page-locked memory of the host, of ours.
class OwnHostMemory {
public:
    /// `work` outlives the memory. If its context is lost, the memory is not freed: the driver
    /// would wait.
    [[nodiscard]] static Result<OwnHostMemory> allocate(const DeviceWork& work,
                                                        std::uint64_t bytes);
    OwnHostMemory(OwnHostMemory&& other) noexcept;
    OwnHostMemory& operator=(OwnHostMemory&& other) noexcept;
    ~OwnHostMemory();
    [[nodiscard]] std::byte* data() const { return data_; }

private:
    OwnHostMemory(const DeviceWork& work, std::byte* data) : work_(&work), data_(data) {}
    const DeviceWork* work_;
    std::byte* data_;
};

/// A copy of a range of device memory.
class MemoryCopy {
public:
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

private:
    friend CopyStore;
    MemoryCopy(std::variant<OwnMemory, OwnHostMemory> memory, std::uint64_t bytes)
        : memory_(std::move(memory)), bytes_(bytes) {}
    std::variant<OwnMemory, OwnHostMemory> memory_;
    std::uint64_t bytes_;
};

/// Copies are asynchronous, in the stream of `work`, unless stated otherwise.
class CopyStore {
public:
    CopyStore(DeviceWork& work, std::uint64_t deviceLimit, std::uint64_t hostLimit)
        : work_(work), deviceLeft_(deviceLimit), hostLeft_(hostLimit) {}

    /// Unsupported if there is no room for it within the limits.
    [[nodiscard]] Result<MemoryCopy> copyOf(CUdeviceptr address, std::uint64_t bytes);
    [[nodiscard]] Result<void> restore(const MemoryCopy& copy, CUdeviceptr address);

    struct Compared {
        CUdeviceptr address = 0;
        const MemoryCopy* copy = nullptr;
        bool isByHost = false; ///< Read it back instead of comparing on the device.
    };
    /// Returns for each part the numbers of its pages (DeviceWork::pageBytes) that may differ from
    /// the copy. Waits.
    [[nodiscard]] Result<std::vector<std::vector<std::uint64_t>>>
    differingPages(std::span<const Compared> parts);

    /// Waits.
    [[nodiscard]] Result<void> read(CUdeviceptr address, std::span<std::byte> into);
    /// Waits.
    [[nodiscard]] Result<void> read(const MemoryCopy& copy, std::uint64_t offset,
                                    std::span<std::byte> into);

    [[nodiscard]] std::uint64_t deviceBytes() const { return deviceBytes_; }
    [[nodiscard]] std::uint64_t hostBytes() const { return hostBytes_; }

private:
    /// Compares from `begin` on, which is in the last page or 0.
    [[nodiscard]] Result<std::vector<std::uint64_t>> pagesByHost(const Compared& part,
                                                                 std::uint64_t begin);

    DeviceWork& work_;
    std::uint64_t deviceLeft_;
    std::uint64_t hostLeft_;
    std::uint64_t deviceBytes_ = 0;
    std::uint64_t hostBytes_ = 0;
};

} // namespace kernelskill::engine::replay
