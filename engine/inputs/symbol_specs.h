/// The contents of `__device__` and `__constant__` variables when a launch begins.
#pragma once

#include "analysis/source/error.h"
#include "engine/execution/job.h"
#include "engine/inputs/host_scope.h"
#include "engine/inputs/program_text.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct SymbolContents {
    std::vector<SymbolSpec> symbols;
    std::vector<std::string> notes; ///< Where each comes from, one sentence each.
};

/// Contents for the variables that `kernel`, or a function that it calls, names and that are set
/// elsewhere: by the host, with cudaMemcpyToSymbol or cudaGetSymbolAddress, or by another kernel.
/// Those that the host sets to zero, and those that `kernel` itself writes, are left as they are.
[[nodiscard]] SymbolContents symbolContents(const ProgramText& program, const FunctionText& kernel,
                                            const EvaluationSettings& settings);

/// The variables that `kernel`, or a function that it calls, writes and that outlive a launch as
/// its results: arrays that other functions of the program name, and all single numbers. Filled
/// with poison if the kernel only assigns to them and nothing gives them an initial value.
[[nodiscard]] std::vector<SymbolSpec> writtenVariables(const ProgramText& program,
                                                       const FunctionText& kernel);

/// The names of all variables that `kernel`, or a function that it calls, writes.
[[nodiscard]] std::vector<std::string> namesOfWrittenVariables(const ProgramText& program,
                                                               const FunctionText& kernel);

/// A pointer among these variables, whose target is not known: its name, with the one-based line on
/// which the host sets it.
struct PointerSymbol {
    std::string name;
    std::string where; ///< "file:line"
};
[[nodiscard]] std::optional<PointerSymbol> pointerSymbol(const ProgramText& program,
                                                         const FunctionText& kernel);

/// Whether a file of the program declares such a variable.
[[nodiscard]] bool isDeviceVariable(const ProgramText& program, const std::string& name);

} // namespace kernelskill::engine
