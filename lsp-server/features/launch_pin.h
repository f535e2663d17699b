/// The comment that pins a launch which was guessed.
#pragma once

#include "analysis/source/text_edit.h"
#include "lsp-server/documents/snapshot.h"

#include <optional>

namespace kernelskill::lsp {

/// Puts the launch of the kernel's cached profile above the kernel, for the user to change. nullopt
/// without a profile, and if neither its launch nor one of its hazards may be a guess.
[[nodiscard]] std::optional<analysis::TextEdit> launchPinFor(const Snapshot& snapshot,
                                                             const analysis::KernelModel& kernel);

/// The same also without a profile: then the launch that a run would guess. nullopt if that is no
/// guess.
[[nodiscard]] std::optional<analysis::TextEdit>
guessedLaunchPinFor(const Snapshot& snapshot, const analysis::KernelModel& kernel);

} // namespace kernelskill::lsp
