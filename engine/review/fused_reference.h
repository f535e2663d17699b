/// A program in which a kernel runs two others that it stands for.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/execution/kernel_ref.h"
#include "engine/review/host/fused_launches.h"

namespace kernelskill::engine {

struct FusedReference {
    ProgramSource program;   ///< Without a model.
    analysis::EditSet edits; ///< They turn it into the edited program.
};

/// Makes the edited program with calls of the two original kernels as the body of `fused`, a kernel
/// of `candidate`: the whole grid runs the first, then the whole grid runs the second. InvalidInput
/// if one of the three is not written out in the main file.
[[nodiscard]] Result<FusedReference> fusedReference(const ProgramSource& original,
                                                    const ProgramSource& candidate,
                                                    const FusedKernel& fused);

/// Returns edits of `original` that make its kernel `split` call the two kernels of `candidate` in
/// that way. InvalidInput as above.
[[nodiscard]] Result<analysis::EditSet> splitInPasses(const ProgramSource& original,
                                                      const ProgramSource& candidate,
                                                      const FusedKernel& split);

} // namespace kernelskill::engine
