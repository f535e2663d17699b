#include "lsp-server/server/generate_request.h"

#include "engine/workbench/kernel_generation.h"
#include "lsp-server/features/workspace_edit.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/server/edit_requests.h"
#include "lsp-server/server/remedies.h"
#include "skills/skill_document.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

using KernelReceiver =
    std::move_only_function<void(Reply, const SnapshotPtr&, const engine::GeneratedKernel&)>;

std::string labelOf(const engine::GeneratedKernel& generated) {
    return fmt::format("Generate kernel from '{}'", generated.reference);
}

/// Hands a kernel that passed to `receive` on the loop's thread, if the document has not changed
/// meanwhile.
void generate(const ServerContext& context, const json& data, const json& params, Reply reply,
              const std::stop_source& stop, KernelReceiver receive) {
    const auto uri = data.at("uri").get<std::string>();
    auto name = data.at("function").get<std::string>();
    std::ignore = data.at("version").get<int>();
    auto run = [&context, data, name = std::move(name), params, stop,
                receive = std::move(receive)](Reply trusted) mutable {
        whenUnchanged(
            context, data,
            [&context, name = std::move(name), params, stop, reply = std::move(trusted),
             receive = std::move(receive)](auto outcome) mutable {
                if (!outcome)
                    return reply.error(std::move(outcome.error()));
                const SnapshotPtr snapshot = std::move(*outcome);
                if (!context.workspace.options().executionEnabled)
                    return reply.error(
                        executionIsOff(", and a kernel is only added after it has been verified"));
                const auto& functions = snapshot->model().loopFunctions;
                const auto function =
                    std::ranges::find(functions, name, &analysis::KernelModel::qualifiedName);
                if (function == functions.end())
                    return reply.error(ErrorCode::InvalidParams,
                                       "no function '" + name + "' with loops");
                context.runJob(
                    fmt::format("Generating a kernel from '{}'", function->name), params,
                    std::move(reply), stop,
                    [&context, snapshot, &function = *function,
                     // Editors show the error of a command, and nothing of a failed resolve.
                     isCommand = params.contains("arguments"),
                     receive = std::move(receive)](Reply answer, const std::stop_token& token,
                                                   const WorkDoneProgress& progress) mutable {
                        auto generated = engine::generateKernel(
                            snapshot->workbench->machines(), {snapshot->program, function}, token,
                            [&progress](std::string_view what, double fraction) {
                                progress.report(what, fraction);
                            });
                        context.loop.post([&context, snapshot, generated = std::move(generated),
                                           isCommand, answer = std::move(answer),
                                           receive = std::move(receive)]() mutable {
                            if (!generated)
                                return answer.error(toResponseError(generated.error()));
                            if (!generated->acceptable()) {
                                const std::string why = fmt::format(
                                    "No kernel was generated from '{}'. The verdict is {}",
                                    generated->reference, generated->verdict.summary);
                                if (!isCommand)
                                    context.showMessage(ServerContext::MessageType::Warning, why);
                                return answer.error(ErrorCode::RequestFailed, why);
                            }
                            const Document* document = context.documents.find(snapshot->uri);
                            if (document == nullptr || document->version != snapshot->version)
                                return answer.error(
                                    ErrorCode::ContentModified,
                                    "the document changed while the kernel was verified");
                            receive(std::move(answer), snapshot, *generated);
                        });
                    });
            });
    };
    context.whenTrusted(uri, std::move(reply), std::move(run));
}

} // namespace

void resolveGeneration(const ServerContext& context, const json& action, Reply& reply,
                       const std::stop_source& stop) {
    generate(context, action.at("data"), action, std::move(reply), stop,
             [&context, action = json(action)](Reply answer, const SnapshotPtr& snapshot,
                                               const engine::GeneratedKernel& generated) mutable {
                 const EditAnnotation annotation =
                     annotationOf(context, labelOf(generated), generated.verdict);
                 action["edit"] =
                     workspaceEdit(generated.edits, *snapshot, context.capabilities, annotation);
                 addNotice(action, context, annotation);
                 answer.result(std::move(action));
             });
}

void generateCommand(const ServerContext& context, const json& argument, const json& params,
                     Reply& reply, const std::stop_source& stop) {
    generate(context, argument, params, std::move(reply), stop,
             [&context](Reply answer, const SnapshotPtr& snapshot,
                        const engine::GeneratedKernel& generated) {
                 TextLookup texts(snapshot->program);
                 json result{{"function", generated.reference},
                             {"kernel", generated.kernel},
                             {"numerics", skills::spelling(generated.numerics)},
                             {"edits", editsJson(generated.edits, snapshot->program.file, texts,
                                                 context.capabilities.positionEncoding)},
                             {"verdict", verdictJson(generated.verdict)}};
                 applyInEditor(context, *snapshot,
                               annotationOf(context, labelOf(generated), generated.verdict),
                               generated.edits, std::move(result), std::move(answer));
             });
}

} // namespace kernelskill::lsp
