/// The language model of the settings, or the editor's own.
#pragma once

#include "engine/model/language_model.h"
#include "lsp-server/server/server_context.h"

#include <memory>

namespace kernelskill::lsp {

/// The model to ask, or null: skills need none. Shows why there is none although the settings turn
/// one on. On the loop's thread.
[[nodiscard]] std::shared_ptr<engine::LanguageModel> languageModel(const ServerContext& context,
                                                                   bool isTrusted);

} // namespace kernelskill::lsp
