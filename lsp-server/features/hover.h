/// textDocument/hover: on a kernel what holds it back and why, on a memory access what it costs, on
/// a launch the sizes.
#pragma once

#include "lsp-server/documents/snapshot.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kernelskill::lsp {

struct HoverContent {
    std::string markdown;
    analysis::Span span;
};

/// nullopt where KernelSkill has nothing to add to clangd's hover.
[[nodiscard]] std::optional<HoverContent> hover(const Snapshot& snapshot, std::uint32_t offset);

/// The kernel's hover text, also for the command kernelskill.explain.
[[nodiscard]] std::string describeKernel(const Snapshot& snapshot,
                                         const analysis::KernelModel& kernel);

} // namespace kernelskill::lsp
