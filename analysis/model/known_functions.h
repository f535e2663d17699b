/// Classifies CUDA's device functions and built-in variables.
#pragma once

#include "analysis/model/kernel_model.h"

#include <optional>
#include <span>
#include <string_view>

namespace kernelskill::analysis {

/// Names are as written. A leading namespace ("cg::", "std::", "::") is ignored.
[[nodiscard]] std::string_view unqualified(std::string_view name);

/// threadIdx, blockIdx, blockDim and gridDim.
[[nodiscard]] std::span<const std::string_view> builtinIndices();
[[nodiscard]] bool isBuiltinIndex(std::string_view name);

[[nodiscard]] bool isAtomic(std::string_view name);
/// Read for __ldg, __ldca and similar; Write for __stcs and similar. The first argument is the
/// address.
[[nodiscard]] std::optional<AccessKind> cachedAccess(std::string_view name);
[[nodiscard]] std::optional<WarpOperationKind> warpOperation(std::string_view name);
/// `isMethod`: a call on a cooperative group; `objectType` is then the group's type.
[[nodiscard]] std::optional<BarrierKind> barrier(std::string_view name, bool isMethod,
                                                 std::string_view objectType);

enum class MathKind : std::uint8_t { None, Simple, Special };
[[nodiscard]] MathKind mathFunction(std::string_view name);

/// Functions of CUDA and the C library that neither keep nor change the memory behind their pointer
/// arguments.
[[nodiscard]] bool leavesPointersAlone(std::string_view name);

} // namespace kernelskill::analysis
