/// A kernel's code for a terminal.
#pragma once

#include "lsp-server/commands/terminal.h"
#include "lsp-server/features/assembly.h"

#include <cstddef>
#include <string>

namespace kernelskill::lsp {

/// Facts, counts by class, then each source line with the instructions that it became, in the order
/// of the code. `shownName` stands for the main file.
[[nodiscard]] std::string listingText(const AssemblyVersion& version, const std::string& shownName,
                                      const Terminal& terminal);

/// Facts and counts of both with what changed, then the code of both, aligned, in `width` columns;
/// what is the same is left out but for a few instructions around each change.
[[nodiscard]] std::string differenceText(const AssemblyView& view, std::size_t width,
                                         const Terminal& terminal);

} // namespace kernelskill::lsp
