#include "lsp-server/server/verify_request.h"

#include "analysis/source/json.h"
#include "analysis/syntax/lexer.h"
#include "lsp-server/documents/old_version.h"
#include "lsp-server/report/verification_json.h"
#include "lsp-server/server/kept_judgements.h"
#include "lsp-server/server/remedies.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/logger.h>

#include <filesystem>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

/// Keeps the judgements and shows one notice. On the loop's thread.
void announce(const ServerContext& context, const Snapshot& snapshot,
              const engine::Verification& done, const std::string& against) {
    context.judgements.keep(snapshot, done, against);
    const bool isRight = done.outcome() == engine::ChangeOutcome::Right;
    context.showMessage(isRight ? ServerContext::MessageType::Info
                                : ServerContext::MessageType::Warning,
                        verificationNotice(done, against));
}

} // namespace

void verifyCommand(const ServerContext& context, const json& argument, const json& params,
                   Reply& reply, const std::stop_source& stop) {
    if (!context.workspace.options().executionEnabled)
        return reply.error(executionIsOff());
    const std::string uri = argument.at("uri").get<std::string>();
    const std::string kernel = argument.value("kernel", "");
    const std::string against = argument.value("against", "HEAD");
    auto run = [&context, uri, kernel, against, params, stop](Reply trusted) {
        context.documents.whenCurrent(uri, [&context, kernel, against, params, stop,
                                            reply = std::move(trusted)](auto outcome) mutable {
            if (!outcome)
                return reply.error(std::move(outcome.error()));
            const SnapshotPtr snapshot = std::move(*outcome);
            context.runJob(
                fmt::format("Verifying {} against {}",
                            kernel.empty() ? "kernels" : fmt::format("'{}'", kernel), against),
                params, std::move(reply), stop,
                [&context, snapshot, kernel, against](Reply answer, const std::stop_token& token,
                                                      const WorkDoneProgress& progress) mutable {
                    const auto old = versionInRevision(*snapshot, against, token);
                    if (!old)
                        return answer.error(toResponseError(old.error()));
                    engine::VerifyOptions options;
                    options.kernel = kernel;
                    auto done = snapshot->workbench->verifier().verify(
                        old->program, snapshot->program, options, token,
                        [&progress](std::string_view what, double fraction) {
                            progress.report(what, fraction);
                        });
                    if (!done)
                        return answer.error(toResponseErrorWithRemedy(done.error()));
                    answer.result(verificationJson(*done, snapshot->program, against, old->commit));
                    context.loop.post(
                        [&context, snapshot, called = old->called, done = std::move(*done)] {
                            announce(context, *snapshot, done, called);
                        });
                });
        });
    };
    context.whenTrusted(uri, std::move(reply), std::move(run));
}

void SaveVerification::saved(const std::string& uri) {
    const Options& options = context_.workspace.options();
    if (options.verifyOnSave && options.executionEnabled && context_.isTrusted(uri) &&
        context_.documents.find(uri) != nullptr)
        trigger_.saved(uri);
}

void SaveVerification::closed(const std::string& uri) {
    trigger_.closed(uri);
    verified_.erase(uri);
}

void SaveVerification::start(const std::string& uri, const std::stop_source& run) {
    context_.documents.whenCurrent(uri, [this, run](auto snapshot) {
        if (snapshot && !run.stop_requested())
            verify(*snapshot, run);
    });
}

void SaveVerification::verify(const SnapshotPtr& snapshot, const std::stop_source& run) {
    auto shown = context_.progress.begin("Verifying what was saved", json::object(), run);
    const auto known = verified_.find(snapshot->uri);
    context_.jobs.post([this, snapshot, token = run.get_token(), shown = std::move(shown),
                        before = known == verified_.end() ? std::string() : known->second] {
        const auto old = versionInRevision(*snapshot, "HEAD", token);
        if (!old) {
            context_.log.info("not verified on save: {}", old.error().describe());
            return shown.end("");
        }
        std::string seen = old->commit + analysis::tokenText(snapshot->program.text);
        if (seen == before)
            return shown.end("");
        auto done = snapshot->workbench->verifier().verify(
            old->program, snapshot->program, {}, token,
            [&shown](std::string_view what, double fraction) { shown.report(what, fraction); });
        shown.end("");
        if (!done) {
            if (!token.stop_requested())
                context_.log.warn("not verified on save: {}", done.error().describe());
            return;
        }
        context_.loop.post([this, snapshot, called = old->called, seen = std::move(seen),
                            done = std::move(*done)]() mutable {
            verified_[snapshot->uri] = std::move(seen);
            if (!done.kernels.empty() || done.host)
                announce(context_, *snapshot, done, called);
        });
    });
}

} // namespace kernelskill::lsp
