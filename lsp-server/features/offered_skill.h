/// A skill by its name, at the place that the user points at.
#pragma once

#include "lsp-server/documents/snapshot.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// The offers of `skill` at `line` (zero-based), else anywhere in the kernel: what a menu shows
/// first, then the skill's further options at the same place. Unsupported, with the gate that did
/// not hold, where it does not fit. Has the kernel compiled where the skill asks what the GPU's
/// compiler says of it, which takes as long as that.
[[nodiscard]] Result<std::vector<skills::Offer>> offersOf(const Snapshot& snapshot,
                                                          const analysis::KernelModel& kernel,
                                                          std::optional<std::uint32_t> line,
                                                          const std::string& skill);
/// The first of offersOf().
[[nodiscard]] Result<skills::Offer> offerOf(const Snapshot& snapshot,
                                            const analysis::KernelModel& kernel,
                                            std::optional<std::uint32_t> line,
                                            const std::string& skill);

} // namespace kernelskill::lsp
