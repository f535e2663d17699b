/// Finds the inputs that a kernel of one nest needs.
#pragma once

#include "analysis/queries/code_map.h"
#include "engine/generate/parallel_function.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// Variables and arrays of the host function, in the order in which they are declared.
struct KernelInputs {
    std::vector<analysis::VariableId> variables;
    /// Statements of the host function that the kernel repeats: sizes computed from its parameters.
    /// If the function becomes one kernel, also everything before the loops.
    std::vector<analysis::StmtId> declarations;
};

/// The inputs of `nest`. If the function becomes one kernel, all its parameters. Variables of
/// reductions are not inputs.
[[nodiscard]] KernelInputs inputsOf(const analysis::KernelModel& function,
                                    const analysis::CodeMap& code, const ParallelFunction& parallel,
                                    const ParallelNest& nest);

/// Whether a statement of the host is repeated in kernels and its result is not used on the host.
[[nodiscard]] bool isOfKernelsAlone(const analysis::KernelModel& function,
                                    const analysis::CodeMap& code, const ParallelFunction& parallel,
                                    analysis::StmtId statement);

/// `const float* x`, or `float scale` for a local variable of the host function.
[[nodiscard]] std::string inputText(const analysis::SourceText& source,
                                    const analysis::KernelModel& function,
                                    analysis::VariableId variable);

/// The array in `arrays` for `variable`; null if it is a number or not used.
[[nodiscard]] const ArrayUse* arrayOf(const analysis::KernelModel& function,
                                      const std::vector<ArrayUse>& arrays,
                                      analysis::VariableId variable);

} // namespace kernelskill::engine
