/// Lets one process at a time take times on a GPU.
#pragma once

#include "engine/process/file_descriptor.h"

#include <filesystem>
#include <string>

namespace kernelskill::engine::graph {

/// A GPU's lock among all processes of this machine that take times. It is over with the object, or
/// with the process.
class GpuTurn {
public:
    /// Waits until no other process has the turn. `device`: "cuda", "cuda:1"; the lock is that of
    /// the GPU that $CUDA_VISIBLE_DEVICES has in that place. Nothing is waited for on a CPU, or if
    /// no lock can be had.
    explicit GpuTurn(const std::string& device);

    /// The file of the lock; empty for a CPU.
    [[nodiscard]] static std::filesystem::path fileFor(const std::string& device);

private:
    FileDescriptor file_;
};

} // namespace kernelskill::engine::graph
