/// What a kernel of one nest has to be handed.
#pragma once

#include "analysis/queries/code_map.h"
#include "engine/generate/parallel_function.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// Variables and arrays of the host function, in the order in which they are declared.
struct KernelInputs {
    std::vector<analysis::VariableId> variables;
    /// Statements of the host function that are part of the kernel: sizes that follow from its
    /// parameters, and whatever stands in front of the loops of a function that is one kernel.
    std::vector<analysis::StmtId> declarations;
};

/// What `nest` uses of the function. Where that is one kernel: all of its parameters. The variables
/// of reductions are not among them.
[[nodiscard]] KernelInputs inputsOf(const analysis::KernelModel& function,
                                    const analysis::CodeMap& code, const ParallelFunction& parallel,
                                    const ParallelNest& nest);

/// A statement of the host that is part of kernels, and that nothing on the host looks at.
[[nodiscard]] bool isOfKernelsAlone(const analysis::KernelModel& function,
                                    const analysis::CodeMap& code, const ParallelFunction& parallel,
                                    analysis::StmtId statement);

/// `const float* x`, or `float scale` for a local of the host function.
[[nodiscard]] std::string inputText(const analysis::SourceText& source,
                                    const analysis::KernelModel& function,
                                    analysis::VariableId variable);

/// The array behind `variable` among `arrays`; null for a number and for one that is not used.
[[nodiscard]] const ArrayUse* arrayOf(const analysis::KernelModel& function,
                                      const std::vector<ArrayUse>& arrays,
                                      analysis::VariableId variable);

} // namespace kernelskill::engine
