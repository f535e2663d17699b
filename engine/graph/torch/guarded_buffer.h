/// Memory that is lent to a candidate, with margins that it must not touch.
#pragma once

#include "engine/graph/torch/aten.h"

#include <cstdint>

namespace kernelskill::engine::graph {

class GuardedBuffer {
public:
    /// Whose contents are undefined. Throws c10::Error if there is no memory.
    GuardedBuffer(std::int64_t bytes, c10::Device device);

    /// A multiple of 64 bytes on a CPU, of 512 on a GPU.
    [[nodiscard]] void* data() const;
    /// The memory as a tensor without gaps, which must fit.
    [[nodiscard]] at::Tensor as(at::IntArrayRef sizes, at::ScalarType type) const;
    [[nodiscard]] at::Tensor bytes() const;
    /// Waits for the current stream.
    [[nodiscard]] bool areMarginsIntact() const;

private:
    std::int64_t bytes_;
    at::Tensor memory_;
};

/// The bytes that fill uninitialised outputs and workspaces: NaN in every floating-point type.
inline constexpr int poison = 0xff;
/// Another pattern, finite in every floating-point type.
inline constexpr int otherPoison = 0x5b;

} // namespace kernelskill::engine::graph
