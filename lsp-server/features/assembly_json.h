/// The JSON of kernelskill/assembly and of `kernelskill assembly --json`, see docs/assembly.md.
#pragma once

#include "lsp-server/features/assembly.h"

#include <nlohmann/json_fwd.hpp>

namespace kernelskill::lsp {

/// {versions: [...], difference}
[[nodiscard]] nlohmann::json assemblyJson(const AssemblyView& view);

} // namespace kernelskill::lsp
