/// Programs in which a generated kernel and the loops that it is made from can be compared.
#pragma once

#include "engine/generate/kernel_writer.h"
#include "engine/generate/reference.h"

#include <expected>
#include <string>

namespace kernelskill::engine {

/// Of one nest. One thread runs its loops as they stand; beside it the kernel runs, or both kernels
/// of a reduction, one behind the other in one launch. `added` is what the file is to have behind
/// the function, at `offset`. Refuses with `no-small-size`.
[[nodiscard]] std::expected<DraftCheck, skills::Refusal>
checkOf(const analysis::FileModel& file, const analysis::KernelModel& function,
        const ParallelFunction& parallel, const ParallelNest& nest, const WrittenKernel& kernel,
        const std::string& added, std::uint32_t offset, DerivedNames& names);

} // namespace kernelskill::engine
