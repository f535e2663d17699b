#include "lsp-server/server/chosen_model.h"

#include "lsp-server/configuration/model_options.h"
#include "lsp-server/server/editor_model.h"

#include <utility>

namespace kernelskill::lsp {

std::shared_ptr<engine::LanguageModel> languageModel(const ServerContext& context, bool isTrusted) {
    const auto editor = [&context]() -> std::unique_ptr<engine::LanguageModel> {
        if (!context.capabilities.languageModel)
            return nullptr;
        return std::make_unique<EditorModel>(context.connection);
    };
    const auto settings = modelSettings(context.workspace.options(), isTrusted);
    auto model =
        settings ? engine::makeLanguageModel(*settings, editor) : std::unexpected(settings.error());
    if (model)
        return std::move(*model);
    if (!settings || settings->isEnabled)
        context.showMessage(ServerContext::MessageType::Warning,
                            "No language model is asked: " + model.error().describe());
    return nullptr;
}

} // namespace kernelskill::lsp
