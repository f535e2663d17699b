/// Writes the prompt that tells a language model about a kernel.
#pragma once

#include "engine/model/language_model.h"
#include "engine/proposal/model_task.h"

#include <string>

namespace kernelskill::engine {

/// Unsupported if the kernel's text is too long. The same task gives the same prompt.
[[nodiscard]] Result<ModelPrompt> promptFor(const ModelTask& task);
/// The message that follows a refused reply.
[[nodiscard]] std::string secondRequest(const std::string& reason);

} // namespace kernelskill::engine
