/// The memory of a kernel, as a tree that a person reads.
#pragma once

#include "engine/memory/short_term_memory.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// The attempts on the kernel whose text has this hash, and below each edit the attempts on the
/// text that it made: Markdown, nested bullets, the newest verdict of each skill. First a line on
/// the edit that made this text, if one did. Empty where nothing was tried.
[[nodiscard]] std::string describeHistory(const std::vector<engine::MemoryEntry>& entries,
                                          std::uint64_t kernelHash);

} // namespace kernelskill::lsp
