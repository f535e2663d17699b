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

/// How a kernel's evidence follows what it means and what to do about it.
enum class Details : std::uint8_t {
    Below,  ///< Behind a rule.
    Folded, ///< In an element <details>, for editors that draw it.
};

/// nullopt where KernelSkill has nothing to add to clangd's hover.
[[nodiscard]] std::optional<HoverContent> hover(const Snapshot& snapshot, std::uint32_t offset,
                                                Details details);

/// The kernel's hover text, also for the command kernelskill.explain: what holds it back, what to
/// do, then the evidence; each fact once.
[[nodiscard]] std::string describeKernel(const Snapshot& snapshot,
                                         const analysis::KernelModel& kernel, Details details);

} // namespace kernelskill::lsp
