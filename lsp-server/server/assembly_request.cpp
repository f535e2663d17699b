// kernelskill/assembly
#include "analysis/source/json.h"
#include "lsp-server/features/assembly.h"
#include "lsp-server/features/assembly_json.h"
#include "lsp-server/protocol/uri.h"
#include "lsp-server/server/edit_requests.h"
#include "lsp-server/server/server_context.h"

#include <spdlog/fmt/fmt.h>

#include <memory>
#include <string_view>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

Result<AssemblyQuestion> questionFrom(const json& params) {
    const auto invalid = [](std::string what) {
        return std::unexpected(Error{ErrorKind::InvalidInput, std::move(what), "", ""});
    };
    AssemblyQuestion question;
    if (const auto language = params.value("language", ""); language == "ptx")
        question.language = engine::AssemblyLanguage::Ptx;
    else if (language == "sass")
        question.language = engine::AssemblyLanguage::Sass;
    else if (!language.empty())
        return invalid("'language' is \"ptx\" or \"sass\", not \"" + language + "\"");
    question.architecture = params.value("architecture", "");
    question.gpu = params.value("gpu", "");
    if (const auto line = params.find("line"); line != params.end())
        question.line = line->get<std::uint32_t>();
    const auto against = params.find("against");
    if (against == params.end() || against->is_null())
        return question;
    if (const auto file = against->find("file"); file != against->end()) {
        const auto path = pathFromUri(file->get<std::string>());
        if (!path)
            return invalid("'against.file' is no URI of a file");
        question.baseline = AssemblyBaseline::File;
        question.other = path->string();
    } else if (const auto skill = against->find("skill"); skill != against->end()) {
        question.baseline = AssemblyBaseline::Skill;
        question.other = skill->get<std::string>();
    } else if (against->value("saved", false)) {
        question.baseline = AssemblyBaseline::Saved;
    } else {
        return invalid("'against' names nothing: {saved: true}, {file} or {skill}");
    }
    return question;
}

void onAssembly(const ServerContext& context, const json& params, Reply& reply,
                const std::stop_source& stop) {
    if (!context.workspace.options().executionEnabled)
        return reply.error(ErrorCode::RequestFailed,
                           "compiling kernels is turned off (kernelskill.execution.enabled)");
    const auto question = questionFrom(params);
    if (!question)
        return reply.error(toResponseError(question.error()));
    const std::string uri = textDocumentUri(params);
    auto run = [&context, uri, params, stop, question = *question](Reply trusted) {
        context.documents.whenCurrent(uri, [&context, params, stop, question,
                                            reply = std::move(trusted)](auto outcome) mutable {
            if (!outcome)
                return reply.error(std::move(outcome.error()));
            const SnapshotPtr snapshot = std::move(*outcome);
            const auto target = findTarget(*snapshot, params);
            if (!target)
                return reply.error(toResponseError(target.error()));
            context.runJob(
                fmt::format("Compiling '{}'", target->kernel->name), params, std::move(reply), stop,
                [snapshot, kernel = target->kernel,
                 question](Reply answer, const std::stop_token& token,
                           const WorkDoneProgress& progress) mutable {
                    const auto view =
                        assemblyView(*snapshot, *kernel, question, token,
                                     [&progress](std::string_view what, double fraction) {
                                         progress.report(what, fraction);
                                     });
                    if (!view)
                        return answer.error(toResponseError(view.error()));
                    auto result = assemblyJson(*view);
                    result["version"] = snapshot->version;
                    answer.result(std::move(result));
                });
        });
    };
    context.whenTrusted(uri, std::move(reply), std::move(run));
}

} // namespace

void registerAssembly(const ServerContext& context) {
    context.connection.onRequest(
        "kernelskill/assembly",
        [&context](const json& params, Reply& reply, std::stop_source stop) {
            onAssembly(context, params, reply, stop);
        });
}

} // namespace kernelskill::lsp
