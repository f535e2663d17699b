/// Runs kernelskill-torch from a command line, by hand or from a script.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/reference/torch_wire.h"

#include <span>
#include <string>
#include <string_view>

namespace kernelskill::engine::graph {

/// How it is used, with a line break at the end.
[[nodiscard]] std::string_view usage();

/// The request that the words of a command line, without the program's name, stand for: to judge
/// or to time. InvalidInput, by name, for words that are none of usage().
[[nodiscard]] Result<TorchRequest> requestFrom(std::span<const char* const> words);

/// The answer as JSON of one line: a judgement, a timing, or {"error": ...}.
[[nodiscard]] std::string jsonOf(const TorchAnswer& answer);

/// 0 for times and for a candidate that is within the loose tolerance, else 1; for errors as their
/// kind says.
[[nodiscard]] int exitStatus(const TorchAnswer& answer);

} // namespace kernelskill::engine::graph
