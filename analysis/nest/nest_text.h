/// Nests as text, for people and tests.
#pragma once

#include "analysis/nest/nest.h"

#include <string>

namespace kernelskill::analysis {

/// The whole nest: a line for what each node is, indented by its depth, with places of the source.
[[nodiscard]] std::string nestText(const Nest& nest, const FileModel& file,
                                   const KernelModel& kernel);

/// "a[globalIdx.y][k]", "points[i].x"; "a[?]" where the index is not known.
[[nodiscard]] std::string accessText(const Nest& nest, const NestAccess& access);

/// "for k = 0 .. n - 1", "for i = globalIdx.x, + blockDim.x*gridDim.x, < n".
[[nodiscard]] std::string loopText(const Nest& nest, const NestLoop& loop);

[[nodiscard]] std::string_view styleName(NestLoopStyle style);
[[nodiscard]] std::string_view formName(NestAccessForm form);
[[nodiscard]] std::string_view barrierName(BarrierKind kind);
[[nodiscard]] std::string_view spaceName(MemorySpace space);

} // namespace kernelskill::analysis
