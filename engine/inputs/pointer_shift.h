/// Tells where pointers that a launch passes lie, as far as alignment goes.
#pragma once

#include "engine/execution/job.h"
#include "engine/inputs/host_scope.h"
#include "engine/inputs/launch_inference.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::engine {

/// The elements that an argument like `p + n - 1` or `&p[n]`, the tokens [begin, end) at the place
/// of `scope`, lies behind p; nullopt if that is not known.
[[nodiscard]] std::optional<std::int64_t> pointerOffset(const std::vector<analysis::Token>& tokens,
                                                        std::size_t begin, std::size_t end,
                                                        const HostScope& scope);

/// How far a pointer that many elements into an allocation is from a multiple of 256 bytes, in
/// elements; 0 where the size of an element does not divide that.
[[nodiscard]] std::uint32_t shiftOf(std::int64_t offset, std::uint32_t elementBytes);

/// True if the kernel, or a device function of its file, computes with the address in a pointer, as
/// guards of vector accesses do.
[[nodiscard]] bool usesAddresses(KernelInFile kernel);

/// `launch` with all buffers an element further, then with one buffer after the other. Buffers with
/// captured data stay where they are.
[[nodiscard]] std::vector<LaunchSpec> withShiftedBuffers(const LaunchSpec& launch);

} // namespace kernelskill::engine
