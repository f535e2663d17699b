/// The JSON of `kernelskill nest --json`, see docs/nest.md.
#pragma once

#include "analysis/nest/dependences.h"

#include <nlohmann/json_fwd.hpp>

namespace kernelskill::lsp {

/// {kernel, line, block, arrays, nodes}; nodes as a tree.
[[nodiscard]] nlohmann::json nestJson(const analysis::Nest& nest, const analysis::FileModel& file,
                                      const analysis::KernelModel& kernel);

/// {pairs, overlaps, complete}
[[nodiscard]] nlohmann::json dependencesJson(const analysis::Nest& nest,
                                             const analysis::NestDependences& dependences);

} // namespace kernelskill::lsp
