/// A subject on the device: its function, buffers and arguments, ready to run repeatedly on the
/// same input.
#pragma once

#include "engine/execution/gpu/runner/device.h"
#include "engine/execution/gpu/runner/device_buffer.h"
#include "engine/execution/gpu/runner_wire.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernelskill::engine::gpu {

class PreparedLaunch {
public:
    /// Loads, allocates and fills. Shares buffers with `other`, if given, that are equal and at the
    /// same position, because the address of memory changes times by a percent. Unsupported for
    /// arguments that cannot be passed to the GPU. InvalidInput for a launch that the device
    /// refuses (block or shared memory too large), and for a guessed launch that asks for more than
    /// half of the free memory.
    [[nodiscard]] static Result<std::unique_ptr<PreparedLaunch>>
    prepare(Device& device, const Subject& subject, std::uint64_t seed,
            const PreparedLaunch* other = nullptr);

    /// The kernel's mangled name.
    [[nodiscard]] const std::string& symbol() const { return symbol_; }
    /// Restores what a run may have changed. Asynchronous, on the device's stream.
    [[nodiscard]] Result<void> restore() const;
    /// Launches on the device's stream. Errors of the kernel appear at the next synchronisation.
    [[nodiscard]] Result<void> launch() const;
    /// The contents after the last run, once the stream is idle.
    [[nodiscard]] Result<std::vector<BufferContents>> outputs() const;
    /// One sentence for each write outside buffers.
    [[nodiscard]] Result<std::vector<std::string>> strayWrites() const;

private:
    struct Argument {
        std::size_t position = 0;
        BufferSpec spec;
        std::unique_ptr<DeviceBuffer> buffer;
        std::unique_ptr<DeviceBuffer>
            original; ///< The contents before a run, if a run may write them.
    };

    PreparedLaunch(Device& device, const LaunchSpec& launch) : device_(device), spec_(launch) {}

    [[nodiscard]] Result<void> findFunction(const Subject& subject);
    /// The buffer of this launch at `position` if it is made as `spec` says; else null.
    [[nodiscard]] std::shared_ptr<const Argument> argumentLike(const BufferSpec& spec,
                                                               std::size_t position) const;
    /// InvalidInput for a guessed launch that asks for too much of the free memory.
    [[nodiscard]] Result<void> checkDemand(const PreparedLaunch* other) const;
    [[nodiscard]] Result<void> addBuffer(const BufferSpec& spec, std::uint64_t seed,
                                         std::size_t position, const PreparedLaunch* other);
    [[nodiscard]] Result<void> addArguments(std::uint64_t seed, const PreparedLaunch* other);

    Device& device_;
    LaunchSpec spec_;
    std::string symbol_;
    CUfunction function_ = nullptr;
    CUmodule module_ = nullptr;
    std::vector<std::shared_ptr<const Argument>> buffers_;
    /// The value of every parameter, as the kernel's ABI expects it.
    std::vector<std::vector<std::byte>> values_;
};

} // namespace kernelskill::engine::gpu
