/// Evidence as a person reads it.
#pragma once

#include "engine/diagnosis/bottleneck.h"

#include <string>

namespace kernelskill::lsp {

/// The evidence and its line (counted from 1), unless the text names the line itself.
[[nodiscard]] std::string describeEvidence(const engine::Evidence& evidence);

/// "a fix may make it 1 to 8 times as fast (model: ...)"
[[nodiscard]] std::string describeGain(const engine::Gain& gain);

} // namespace kernelskill::lsp
