/// A program in which a fused kernel is, literally, the two kernels that it stands for.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/execution/kernel_ref.h"
#include "engine/review/host/fused_launches.h"

namespace kernelskill::engine {

struct FusedReference {
    ProgramSource program;   ///< Without a model.
    analysis::EditSet edits; ///< What makes the edited program of it.
};

/// The edited program with the two original kernels in the place of the fused one's body: the whole
/// grid runs the first, then the whole grid runs the second. `fused` is of `candidate`.
/// InvalidInput where one of the three is not written out in the main file.
[[nodiscard]] Result<FusedReference> fusedReference(const ProgramSource& original,
                                                    const ProgramSource& candidate,
                                                    const FusedKernel& fused);

} // namespace kernelskill::engine
