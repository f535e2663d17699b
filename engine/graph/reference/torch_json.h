/// Parts of the messages to and from `kernelskill-torch` as JSON. The readers throw nlohmann's
/// exceptions for malformed input.
#pragma once

#include "engine/graph/program.h"
#include "engine/graph/reference/torch_subject.h"
#include "engine/graph/reference/torch_timing.h"

#include <nlohmann/json_fwd.hpp>

namespace kernelskill::engine::graph {

[[nodiscard]] nlohmann::json toJson(const TensorData& tensor);
[[nodiscard]] TensorData tensorFrom(const nlohmann::json& json);

[[nodiscard]] nlohmann::json toJson(const ProgramPart& part);
[[nodiscard]] ProgramPart partFrom(const nlohmann::json& json);

[[nodiscard]] nlohmann::json toJson(const TorchSubject& subject);
[[nodiscard]] TorchSubject subjectFrom(const nlohmann::json& json);

[[nodiscard]] nlohmann::json toJson(const TorchTiming& timing);
[[nodiscard]] TorchTiming timingFrom(const nlohmann::json& json);

} // namespace kernelskill::engine::graph
