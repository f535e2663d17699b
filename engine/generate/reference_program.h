/// Writes programs that compare a generated kernel with its original loops.
#pragma once

#include "engine/generate/kernel_writer.h"
#include "engine/generate/reference.h"

#include <expected>
#include <string>

namespace kernelskill::engine {

/// The comparison for one nest. In one program one thread runs the original loops; in the other the
/// kernel runs, or both kernels of a reduction one after the other in one launch. `added` is the
/// text to insert after the function, at `offset`. Refuses with `no-small-size`.
[[nodiscard]] std::expected<DraftCheck, skills::Refusal>
checkOf(const analysis::FileModel& file, const analysis::KernelModel& function,
        const ParallelFunction& parallel, const ParallelNest& nest, const WrittenKernel& kernel,
        const std::string& added, std::uint32_t offset, DerivedNames& names);

} // namespace kernelskill::engine
