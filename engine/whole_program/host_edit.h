/// An edit of the host's code that was tried in a program. Plain data.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/whole_program/optimized_kernel.h"

#include <optional>
#include <string>

namespace kernelskill::engine {

/// Puts a graph or streams around launches, or one kernel in the place of two, which a search of
/// one kernel cannot measure.
struct HostEdit {
    std::string skill;
    std::string title;
    std::string kernel;      ///< The qualified name of the kernel that it was offered for.
    analysis::EditSet edits; ///< Edits of the files of the original's copy.
    KernelOutcome outcome = KernelOutcome::NotSearched; ///< Until it is tried.
    std::string why = {};                               ///< Empty if it was kept.
    /// The speedup with this edit alone, of all work of the GPU or of the time from its first work
    /// to its last, whichever gained more. nullopt if it was not timed.
    std::optional<double> speedup = {};
};

} // namespace kernelskill::engine
