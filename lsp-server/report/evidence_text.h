/// Evidence as a person reads it.
#pragma once

#include "engine/diagnosis/bottleneck.h"

#include <optional>
#include <string>

namespace kernelskill::lsp {

/// The evidence and its line (counted from 1), unless the text names the line itself.
[[nodiscard]] std::string describeEvidence(const engine::Evidence& evidence);

/// "a fix may make it at most 8 times as fast (model: ...)"
[[nodiscard]] std::string describeGain(const engine::Gain& gain);

/// "8×", "1.3×"
[[nodiscard]] std::string factorText(double factor);
/// How many times as fast the kernel may become; nullopt if only the tier of the headroom is known.
[[nodiscard]] std::optional<double> headroomFactor(const engine::Bottleneck& bottleneck);
/// The headroom, the same words wherever it is told: "8× headroom", "medium headroom" where no
/// factor is known, "at its limit"; empty if unknown.
[[nodiscard]] std::string describeHeadroom(const engine::Bottleneck& bottleneck);

} // namespace kernelskill::lsp
