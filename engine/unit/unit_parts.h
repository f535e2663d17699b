/// What units for the CPU and units for the GPU's compiler are made of alike.
#pragma once

#include "engine/unit/slice.h"

#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// What to keep of a program for one kernel: it, and what its template arguments name.
[[nodiscard]] SliceRequest kernelSlice(const analysis::KernelModel& kernel,
                                       const std::vector<std::string>& templateArguments,
                                       SliceWidth width, const std::set<std::string>& forced);

/// Empty namespaces for the program's using directives: `using namespace thrust;` needs the
/// namespace to be there even when its header is left out.
[[nodiscard]] std::string namespaceForwards(const ScannedProgram& program);

/// So that an edit of host code, which is blanked, leaves the unit as it was and what was made of
/// it in the cache.
[[nodiscard]] std::string withoutTrailingBlanks(const std::string& text);

/// `using namespace std::chrono;` and the like, whose headers are left out.
void blankNestedStandardNamespaces(std::string& text, const FileSlice& slice);

} // namespace kernelskill::engine
