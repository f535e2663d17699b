/// The JSON of `kernelskill nest --json`, see docs/nest.md.
#pragma once

#include "analysis/nest/nest.h"

#include <nlohmann/json_fwd.hpp>

namespace kernelskill::lsp {

/// {kernel, line, block, arrays, nodes}; nodes as a tree.
[[nodiscard]] nlohmann::json nestJson(const analysis::Nest& nest, const analysis::FileModel& file,
                                      const analysis::KernelModel& kernel);

} // namespace kernelskill::lsp
