/// Kernels of our own, as PTX that the driver compiles for any GPU. They sweep the L2 cache, fill
/// and compare buffers, and measure the device's maximum throughput.
#pragma once

#include <string_view>

namespace kernelskill::engine::gpu {

/// The entries all have the parameters (u64 from, u64 to, u64 count, u64 window):
/// - read_memory: reads `count` 16-byte words at `from`, by a grid of any size, four in flight a
///   thread; offsets are masked by `window`, so that the same part can be read again and again.
///   Writes to `to` only if the words have bits that they cannot have, which is to keep the loads.
/// - copy_memory: copies `count` 16-byte words, four in flight a thread.
/// - fuse_float, fuse_double: each thread does `count` × 64 fused multiply-adds in eight
///   independent chains.
/// - fill_float, fill_word: writes `count` 4-byte elements at `to`, as fillBuffer() (buffer_fill.h)
///   has them for the seed `from`: floats, and integers below `window`.
/// - differ_pages: compares `count` 16-byte words at `from` and at `to`. Word w that differs sets
///   the 32-bit word w / 4096 at `window` to 1, which stands for 64 KiB.
[[nodiscard]] std::string_view helperKernels();

} // namespace kernelskill::engine::gpu
