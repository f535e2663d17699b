/// The settings of language models in the engine's terms.
#pragma once

#include "engine/model/model_settings.h"
#include "lsp-server/configuration/options.h"

namespace kernelskill::lsp {

/// `isTrusted`: the user works on this code at their own risk: they call the command line, or the
/// editor says that they trust the workspace. Otherwise, and where kernels may not be run, the
/// model is off. InvalidInput for a provider that there is none of, and numbers below zero.
[[nodiscard]] Result<engine::ModelSettings> modelSettings(const Options& options, bool isTrusted);

} // namespace kernelskill::lsp
