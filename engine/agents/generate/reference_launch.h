/// A launch to compare a generated kernel with its reference on.
#pragma once

#include "engine/agents/generate/kernel_writer.h"

#include <expected>
#include <string>

namespace kernelskill::engine {

/// The comment that pins it: sizes at which each loop runs, small enough to be run by one thread,
/// and buffers of exactly the elements that the launcher copies. Refuses with `no-small-size`.
[[nodiscard]] std::expected<std::string, skills::Refusal>
referenceLaunch(const analysis::SourceText& source, const analysis::KernelModel& function,
                const ParallelNest& nest, const WrittenKernel& written);

} // namespace kernelskill::engine
