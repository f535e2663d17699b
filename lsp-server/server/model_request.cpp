#include "lsp-server/server/model_request.h"

#include "lsp-server/features/generated_model.h"
#include "lsp-server/protocol/uri.h"
#include "lsp-server/server/edit_requests.h"
#include "lsp-server/server/remedies.h"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

void generateModelCommand(const ServerContext& context, const json& argument, const json& params,
                          Reply& reply, const std::stop_source& stop) {
    const auto uri = argument.at("uri").get<std::string>();
    const auto archive = pathFromUri(uri);
    const auto folder = pathFromUri(argument.at("folder").get<std::string>());
    if (!archive || !folder)
        return reply.error(ErrorCode::InvalidParams, "'uri' and 'folder' are URIs of files");
    if (!context.workspace.options().executionEnabled)
        return reply.error(executionIsOff(
            ", and a model's kernels are only written after they have been checked"));
    ModelFolderRequest request{.archive = *archive,
                               .folder = *folder,
                               .precision = argument.value("precision", "float32"),
                               .tolerance = argument.value("tolerance", "1e-2"),
                               .usesLibraries = argument.value("libraries", false),
                               .isChannelsLast = argument.value("channelsLast", false),
                               .measuringTime =
                                   std::chrono::seconds(argument.value("seconds", 60))};
    auto run = [&context, request = std::move(request), params, stop](Reply trusted) mutable {
        const auto workbench = context.workspace.workbench();
        if (!workbench)
            return trusted.error(toResponseError(context.workspace.problem()));
        context.runJob(
            fmt::format("Generating kernels of '{}'", request.archive.filename().string()), params,
            std::move(trusted), stop,
            [workbench, request = std::move(request)](Reply answer, const std::stop_token& token,
                                                      const WorkDoneProgress& progress) mutable {
                progress.report("planning kernels and checking them on the emulator", 0.1);
                request.progress = [&progress](const std::string& what, double share) {
                    constexpr double begin = 0.1;
                    constexpr double measuring = 0.6;
                    progress.report(what, begin + measuring * share);
                };
                const auto model = writeModel(*workbench, request, token);
                if (!model)
                    return answer.error(toResponseError(model.error()));
                json result = modelJson(*model);
                result["folder"] = uriFromPath(request.folder);
                result["report"] = uriFromPath(request.folder / "report.html");
                answer.result(std::move(result));
            });
    };
    context.whenTrusted(uri, std::move(reply), std::move(run));
}

} // namespace kernelskill::lsp
