/// What a language model is told of a kernel.
#pragma once

#include "engine/model/language_model.h"
#include "engine/proposal/model_task.h"

#include <string>

namespace kernelskill::engine {

/// Unsupported for a kernel whose text is too long to be sent. The same task gives the same prompt.
[[nodiscard]] Result<ModelPrompt> promptFor(const ModelTask& task);
/// What is said when the reply to the prompt was refused.
[[nodiscard]] std::string secondRequest(const std::string& reason);

} // namespace kernelskill::engine
