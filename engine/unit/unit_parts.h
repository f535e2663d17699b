/// The parts that units for the CPU and units for the GPU's compiler share.
#pragma once

#include "engine/unit/slice.h"

#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The slice for one kernel: the kernel, and the names in its template arguments.
[[nodiscard]] SliceRequest kernelSlice(const analysis::KernelModel& kernel,
                                       const std::vector<std::string>& templateArguments,
                                       SliceWidth width, const std::set<std::string>& forced);

/// Empty namespaces for the program's using directives: `using namespace thrust;` needs the
/// namespace even if its header is left out.
[[nodiscard]] std::string namespaceForwards(const ScannedProgram& program);

/// Removes trailing blanks. Host code is blanked, so an edit of it leaves the unit unchanged and
/// its cached results valid.
[[nodiscard]] std::string withoutTrailingBlanks(const std::string& text);

/// Blanks directives like `using namespace std::chrono;`, whose headers are left out.
void blankNestedStandardNamespaces(std::string& text, const FileSlice& slice);

} // namespace kernelskill::engine
