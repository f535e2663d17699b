/// The template arguments that a launch gives its kernel.
#pragma once

#include "engine/inputs/host_scope.h"
#include "engine/inputs/launch_sites.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// One for each template parameter of `kernel`, as text that names it outside any function: as the
/// launch writes it or clang deduced it, followed through templates of the host to a call that
/// gives theirs; else the default; else a guess, `float` for a type. Empty for a function that is
/// not known. `site` may be nullptr; `strict` guesses nothing.
[[nodiscard]] std::vector<std::string> launchTemplateArguments(const ProgramText& program,
                                                               const analysis::KernelModel& kernel,
                                                               const EvaluationSettings& strict,
                                                               const TextPlace& place,
                                                               const SiteText* site);

} // namespace kernelskill::engine
