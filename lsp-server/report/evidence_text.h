/// Evidence as a person reads it.
#pragma once

#include "engine/diagnosis/bottleneck.h"

#include <string>

namespace kernelskill::lsp {

/// The evidence and its line (counted from 1), unless the text names the line itself.
[[nodiscard]] std::string describeEvidence(const engine::Evidence& evidence);

} // namespace kernelskill::lsp
