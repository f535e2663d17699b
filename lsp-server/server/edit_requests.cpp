// Edits: codeAction/resolve and the commands that end in workspace/applyEdit. A skill's edit is
// reviewed before it is shown.
#include "lsp-server/server/edit_requests.h"

#include "analysis/source/json.h"
#include "engine/workbench/hazard_repair.h"
#include "lsp-server/features/code_actions.h"
#include "lsp-server/features/hazard_fixes.h"
#include "lsp-server/features/launch_pin.h"
#include "lsp-server/features/workspace_edit.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/server/generate_request.h"
#include "lsp-server/server/remedies.h"

#include <spdlog/fmt/fmt.h>

#include <tuple>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

/// Throws an error that becomes InvalidParams: to be called while the reply can still give it.
void requireAction(const json& data) {
    std::ignore = data.at("uri").get<std::string>();
    std::ignore = data.at("version").get<int>();
    const auto type = data.at("type").get<std::string>();
    if (type == "fix") {
        std::ignore = data.at("index").get<std::size_t>();
        std::ignore = data.at("title").get<std::string>();
    } else if (type == "hazardFix") {
        std::ignore = data.at("kernel").get<std::string>();
        std::ignore = data.at("title").get<std::string>();
    } else if (type == "generate") {
        std::ignore = data.at("function").get<std::string>();
    }
}

std::string describe(const engine::Verdict& verdict) {
    return verdict.summary.empty() ? std::string(spelling(verdict.status)) : verdict.summary;
}

std::string explainRefusal(const engine::ReviewedEdit& edit) {
    return fmt::format("'{}' was not applied. The verdict is {}", edit.skill,
                       describe(edit.verdict));
}

/// The refusal of an edit. If the launch was guessed and may be wrong, buttons offer to replace it.
ResponseError refusalOf(const Snapshot& snapshot, const skills::Offer& offer,
                        const engine::ReviewedEdit& edit) {
    ResponseError error{ErrorCode::RequestFailed, explainRefusal(edit)};
    const auto* kernel = findKernel(snapshot, offer.kernelName);
    if (edit.verdict.status != engine::VerdictStatus::Invalid || kernel == nullptr)
        return error;
    const auto launch = snapshot.workbench->knowledge().launch({snapshot.program, *kernel});
    if (!launch || !launch->isShapeGuessed)
        return error;
    const auto target = std::make_shared<const json>(
        json{{"uri", snapshot.uri}, {"kernel", kernel->qualifiedName}});
    return withRemedies(
        std::move(error),
        {{"Pin the Launch", RemedyButton::Does::RunCommand, "kernelskill.pinLaunch", target},
         {"Run the Program", RemedyButton::Does::RunCommand, "kernelskill.runProgram", target}});
}

constexpr std::string_view applyPrefix = "Apply skill: ";

std::string labelOf(const skills::Offer& offer) {
    return std::string(applyPrefix) + offer.title;
}

using EditReceiver =
    std::move_only_function<void(Reply, std::expected<engine::ReviewedEdit, ResponseError>)>;

/// Reviews a skill's edit and hands it to `receive` on the loop's thread if the document has not
/// changed meanwhile.
void review(const ServerContext& context, const SnapshotPtr& snapshot, const skills::Offer& offer,
            const json& params, Reply reply, const std::stop_source& stop, EditReceiver receive) {
    if (!context.workspace.options().executionEnabled)
        return receive(std::move(reply),
                       std::unexpected(executionIsOff(
                           ", and an edit is only applied after it has been verified")));
    if (findKernel(*snapshot, offer.kernelName) == nullptr)
        return receive(std::move(reply),
                       std::unexpected(ResponseError{ErrorCode::InvalidParams,
                                                     "no kernel '" + offer.kernelName + "'"}));
    context.runJob(
        fmt::format("Verifying '{}'", offer.title), params, std::move(reply), stop,
        [&context, snapshot, offer, receive = std::move(receive)](
            Reply answer, const std::stop_token& token, const WorkDoneProgress& progress) mutable {
            auto reviewed = snapshot->workbench->advisor().apply(
                {snapshot->program, *findKernel(*snapshot, offer.kernelName)}, offer,
                snapshot->memory(), token, [&progress](std::string_view what, double fraction) {
                    progress.report(what, fraction);
                });
            context.loop.post([&context, snapshot, offer, reviewed = std::move(reviewed),
                               answer = std::move(answer), receive = std::move(receive)]() mutable {
                if (!reviewed)
                    return receive(std::move(answer),
                                   std::unexpected(toResponseErrorWithRemedy(reviewed.error())));
                if (!reviewed->notRemembered.empty())
                    context.showMessage(ServerContext::MessageType::Warning,
                                        "The attempt is not remembered: " +
                                            reviewed->notRemembered);
                if (!reviewed->acceptable()) {
                    return receive(std::move(answer),
                                   std::unexpected(refusalOf(*snapshot, offer, *reviewed)));
                }
                const Document* document = context.documents.find(snapshot->uri);
                if (document == nullptr || document->version != snapshot->version)
                    return receive(std::move(answer),
                                   std::unexpected(ResponseError{
                                       ErrorCode::ContentModified,
                                       "the document changed while the edit was verified"}));
                receive(std::move(answer), std::move(*reviewed));
            });
        });
}

/// A fix that the reader has been offered, with the label it goes by.
struct FoundFix {
    SnapshotPtr snapshot;
    std::string label;
    analysis::EditSet edits;
};
using FixReceiver = std::move_only_function<void(std::expected<FoundFix, ResponseError>)>;

void findFix(const ServerContext& context, const json& data, FixReceiver receive) {
    const auto index = data.at("index").get<std::size_t>();
    auto title = data.at("title").get<std::string>();
    whenUnchanged(
        context, data,
        [&context, index, title = std::move(title),
         receive = std::move(receive)](auto outcome) mutable {
            if (!outcome)
                return receive(std::unexpected(std::move(outcome.error())));
            const SnapshotPtr snapshot = std::move(*outcome);
            const Document* document = context.documents.find(snapshot->uri);
            if (document == nullptr)
                return receive(std::unexpected(
                    ResponseError{ErrorCode::ContentModified, "the document was closed"}));
            document->worker->whenFixesReady(
                snapshot->generation, [snapshot, index, title = std::move(title),
                                       receive = std::move(receive)](const Fixes& fixes) mutable {
                    if (!fixes || index >= fixes->size() || fixes->at(index).title != title)
                        return receive(std::unexpected(ResponseError{
                            ErrorCode::ContentModified, "the fix is for another version"}));
                    const engine::CompileFix& fix = fixes->at(index);
                    receive(FoundFix{snapshot, "Fix compile error: " + fix.title, fix.edits});
                });
        });
}

void findHazardFix(const ServerContext& context, const json& data, FixReceiver receive) {
    auto kernel = data.at("kernel").get<std::string>();
    auto title = data.at("title").get<std::string>();
    whenUnchanged(context, data,
                  [kernel = std::move(kernel), title = std::move(title),
                   receive = std::move(receive)](auto outcome) mutable {
                      if (!outcome)
                          return receive(std::unexpected(std::move(outcome.error())));
                      const SnapshotPtr snapshot = std::move(*outcome);
                      const auto fix = lsp::findHazardFix(*snapshot, kernel, title);
                      if (!fix)
                          return receive(std::unexpected(ResponseError{
                              ErrorCode::ContentModified, "the fix is for another version"}));
                      receive(FoundFix{snapshot, title, fix->edits(*snapshot)});
                  });
}

bool isFix(const std::string& type) {
    return type == "fix" || type == "hazardFix";
}

void findAnyFix(const ServerContext& context, const json& data, FixReceiver receive) {
    if (data.at("type").get<std::string>() == "fix")
        findFix(context, data, std::move(receive));
    else
        findHazardFix(context, data, std::move(receive));
}

void onResolve(const ServerContext& context, const json& params, Reply& reply,
               const std::stop_source& stop) {
    const json& data = params.at("data");
    requireAction(data);
    const auto type = data.at("type").get<std::string>();
    if (isFix(type))
        return findAnyFix(
            context, data, [&context, action = params, reply = std::move(reply)](auto fix) mutable {
                if (!fix)
                    return reply.error(std::move(fix.error()));
                action["edit"] = workspaceEdit(fix->edits, *fix->snapshot, context.capabilities);
                reply.result(std::move(action));
            });
    if (type == "generate")
        return resolveGeneration(context, params, reply, stop);
    if (type != "skill")
        return reply.error(ErrorCode::InvalidParams, "unknown kind of code action");
    skills::Offer offer = offerFromJson(data.at("offer"));
    const auto uri = data.at("uri").get<std::string>();
    auto run = [&context, data, action = params, offer = std::move(offer),
                stop](Reply trusted) mutable {
        whenUnchanged(context, data,
                      [&context, action = std::move(action), offer = std::move(offer), stop,
                       reply = std::move(trusted)](auto snapshot) mutable {
                          if (!snapshot)
                              return reply.error(std::move(snapshot.error()));
                          const json params = action;
                          review(context, *snapshot, offer, params, std::move(reply), stop,
                                 [&context, snapshot = *snapshot, label = labelOf(offer),
                                  action = std::move(action)](Reply answer, auto edit) mutable {
                                     if (!edit) {
                                         // Editors show nothing of a failed resolve.
                                         context.showMessage(ServerContext::MessageType::Warning,
                                                             edit.error().message);
                                         return answer.error(std::move(edit.error()));
                                     }
                                     const EditAnnotation annotation =
                                         annotationOf(context, std::move(label), edit->verdict);
                                     action["edit"] = workspaceEdit(
                                         edit->edits, *snapshot, context.capabilities, annotation);
                                     addNotice(action, context, annotation);
                                     answer.result(std::move(action));
                                     context.refresh(snapshot);
                                 });
                      });
    };
    context.whenTrusted(uri, std::move(reply), std::move(run));
}

/// The offer of a skill at a place, when the command came without one.
std::optional<skills::Offer> findOffer(const Snapshot& snapshot, const CommandTarget& target,
                                       const std::string& skill) {
    for (const analysis::Span range : {target.range, target.kernel->span}) {
        const engine::Plan plan = snapshot.workbench->advisor().plan(
            {snapshot.program, *target.kernel}, range, snapshot.memory());
        for (const engine::RankedSkill& ranked : plan.ranked) {
            if (ranked.offer.skillId == skill)
                return ranked.offer;
        }
    }
    return std::nullopt;
}

/// The repair of a file's compile errors, or if it has none and kernels may be run of its hazards,
/// as JSON with its edits.
Result<std::pair<json, analysis::EditSet>> repairOf(const ServerContext& context,
                                                    const Snapshot& snapshot, bool mayRun,
                                                    const std::stop_token& stop,
                                                    const WorkDoneProgress& progress) {
    TextLookup texts(snapshot.program);
    const auto asJson = [&](const auto& repair) {
        return std::pair(
            repairJson(repair, snapshot.model().file, texts, context.capabilities.positionEncoding),
            repair.edits);
    };
    const engine::Repair repair =
        engine::repairFile(snapshot.model(), snapshot.program.command,
                           snapshot.workbench->toolchain(), stop, snapshot.program.unsaved);
    if (stop.stop_requested())
        return std::unexpected(Error{ErrorKind::Cancelled, "cancelled", "", ""});
    if (repair.errorsBefore > 0 || !mayRun || !snapshot.workbench->machines().emulator())
        return asJson(repair);
    const auto hazards = engine::repairHazards(
        snapshot.workbench->hazardFixes(), snapshot.program, stop,
        [&](std::string_view what, double fraction) { progress.report(what, fraction); });
    if (!hazards)
        return std::unexpected(hazards.error());
    return asJson(*hazards);
}

} // namespace

void addNotice(json& action, const ServerContext& context, const EditAnnotation& annotation) {
    if (context.capabilities.codeActionResolveCommand)
        action["command"] = {{"title", "Say what was checked"},
                             {"command", "kernelskill.tellApplied"},
                             {"arguments", {{{"notice", annotation.notice}}}}};
}

void tellAppliedCommand(const ServerContext& context, const json& argument, Reply& reply) {
    tellApplied(context, argument.at("notice").get<std::string>(), std::nullopt);
    reply.result(nullptr);
}

EditAnnotation annotationOf(const ServerContext& context, std::string label,
                            const engine::Verdict& verdict) {
    std::string description(spelling(verdict.status));
    if (!verdict.summary.empty())
        description += ": " + verdict.summary;
    const std::string_view what =
        label.starts_with(applyPrefix) ? std::string_view(label).substr(applyPrefix.size()) : label;
    std::string notice = fmt::format("{}: applied, {}", what, description);
    return {std::move(label), std::move(description), context.workspace.options().previewSkills,
            std::move(notice)};
}

void whenUnchanged(const ServerContext& context, const json& data,
                   DocumentWorker::SnapshotReader reader) {
    const int version = data.at("version").get<int>();
    context.documents.whenCurrent(
        data.at("uri").get<std::string>(),
        [version, reader = std::move(reader)](auto snapshot) mutable {
            if (snapshot && (*snapshot)->version != version)
                snapshot = std::unexpected(ResponseError{
                    ErrorCode::ContentModified,
                    fmt::format("the action was made for version {} of the document, which is now "
                                "at version {}: ask for code actions again",
                                version, (*snapshot)->version)});
            reader(std::move(snapshot));
        });
}

void applyInEditor(const ServerContext& context, const Snapshot& snapshot,
                   const EditAnnotation& annotation, const analysis::EditSet& edits, json result,
                   Reply reply) {
    applyInEditor(
        context, annotation, workspaceEdit(edits, snapshot, context.capabilities, annotation),
        appliedTo(snapshot, edits, annotation.label), std::move(result), std::move(reply));
}

void applyInEditor(const ServerContext& context, const EditAnnotation& annotation, json edit,
                   std::optional<AppliedEdit> applied, json result, Reply reply) {
    if (!context.capabilities.applyEdit)
        return reply.error(ErrorCode::RequestFailed,
                           "the editor does not support workspace/applyEdit");
    context.connection.request(
        "workspace/applyEdit", {{"label", annotation.label}, {"edit", std::move(edit)}},
        [&context, notice = annotation.notice, applied = std::move(applied),
         result = std::move(result), reply = std::move(reply)](auto answer) mutable {
            if (!answer)
                return reply.error(std::move(answer.error()));
            const bool isApplied = answer->is_object() && answer->value("applied", false);
            if (isApplied && !notice.empty())
                tellApplied(context, notice, std::move(applied));
            result["applied"] = isApplied;
            reply.result(std::move(result));
        });
}

Result<CommandTarget> findTarget(const Snapshot& snapshot, const json& argument) {
    const analysis::FileModel& model = snapshot.model();
    if (const auto name = argument.find("kernel"); name != argument.end()) {
        const auto* kernel = findKernel(snapshot, name->get<std::string>());
        if (kernel == nullptr)
            return std::unexpected(Error{ErrorKind::InvalidInput,
                                         "no kernel '" + name->get<std::string>() + "' in the file",
                                         model.file, ""});
        return CommandTarget{kernel, kernel->span};
    }
    std::optional<std::uint32_t> line;
    if (const auto number = argument.find("line"); number != argument.end())
        line = number->get<std::uint32_t>();
    else if (const auto position = argument.find("position"); position != argument.end())
        line = position->get<Position>().line;
    for (const analysis::KernelModel& kernel : model.kernels) {
        if (!snapshot.isInMainFile(kernel))
            continue;
        if (!line)
            return CommandTarget{&kernel, kernel.span};
        const analysis::Span span = snapshot.source().lineSpan(*line);
        if (kernel.span.begin <= span.end && span.begin <= kernel.span.end)
            return CommandTarget{&kernel, span};
    }
    return std::unexpected(Error{ErrorKind::InvalidInput,
                                 line ? fmt::format("no kernel at line {}", *line + 1)
                                      : std::string("the file has no kernel"),
                                 model.file, ""});
}

void applySkillCommand(const ServerContext& context, const json& argument, const json& params,
                       Reply& reply, const std::stop_source& stop) {
    const std::string uri = argument.at("uri").get<std::string>();
    std::string skill = argument.at("skill").get<std::string>();
    std::optional<skills::Offer> given;
    if (const auto offer = argument.find("offer"); offer != argument.end())
        given = offerFromJson(*offer);
    if (argument.contains("version"))
        std::ignore = argument.at("version").get<int>();
    auto run = [&context, uri, argument, params, given = std::move(given), skill = std::move(skill),
                stop](Reply trusted) mutable {
        auto go = [&context, argument, params, given = std::move(given), skill = std::move(skill),
                   stop, reply = std::move(trusted)](auto outcome) mutable {
            if (!outcome)
                return reply.error(std::move(outcome.error()));
            const SnapshotPtr snapshot = std::move(*outcome);
            if (!given) {
                const auto target = findTarget(*snapshot, argument);
                if (!target)
                    return reply.error(toResponseError(target.error()));
                given = findOffer(*snapshot, *target, skill);
            }
            if (!given)
                return reply.error(ErrorCode::RequestFailed,
                                   fmt::format("the skill '{}' does not fit here", skill));
            review(context, snapshot, *given, params, std::move(reply), stop,
                   [&context, snapshot, label = labelOf(*given)](Reply answer, auto edit) mutable {
                       if (!edit)
                           return answer.error(std::move(edit.error()));
                       TextLookup texts(snapshot->program);
                       json result{{"skill", edit->skill},
                                   {"edits", editsJson(edit->edits, snapshot->program.file, texts,
                                                       context.capabilities.positionEncoding)},
                                   {"verdict", verdictJson(edit->verdict)}};
                       applyInEditor(context, *snapshot,
                                     annotationOf(context, label, edit->verdict), edit->edits,
                                     std::move(result), std::move(answer));
                   });
        };
        if (argument.contains("version"))
            whenUnchanged(context, argument, std::move(go));
        else
            context.documents.whenCurrent(uri, std::move(go));
    };
    context.whenTrusted(uri, std::move(reply), std::move(run));
}

void applyFixCommand(const ServerContext& context, const json& argument, Reply& reply) {
    requireAction(argument);
    findAnyFix(context, argument, [&context, reply = std::move(reply)](auto fix) mutable {
        if (!fix)
            return reply.error(std::move(fix.error()));
        applyInEditor(context, *fix->snapshot,
                      {.label = fix->label, .description = {}, .notice = {}}, fix->edits,
                      json::object(), std::move(reply));
    });
}

void pinLaunchCommand(const ServerContext& context, const json& argument, Reply& reply) {
    context.documents.whenCurrent(argument.at("uri").get<std::string>(), [&context, argument,
                                                                          reply = std::move(reply)](
                                                                             auto outcome) mutable {
        if (!outcome)
            return reply.error(std::move(outcome.error()));
        const Snapshot& snapshot = **outcome;
        const auto target = findTarget(snapshot, argument);
        if (!target)
            return reply.error(toResponseError(target.error()));
        const auto pin = guessedLaunchPinFor(snapshot, *target->kernel);
        if (!pin)
            return reply.error(
                ErrorCode::RequestFailed,
                fmt::format("the launch of '{}' is not a guess", target->kernel->name));
        std::string label = fmt::format("Pin the launch of '{}'", target->kernel->name);
        std::string notice = label + ": the numbers are the guess; give those of your program.";
        applyInEditor(context, snapshot,
                      {.label = std::move(label), .description = {}, .notice = std::move(notice)},
                      {{snapshot.model().file, {*pin}}}, json::object(), std::move(reply));
    });
}

void repairCommand(const ServerContext& context, const json& argument, const json& params,
                   Reply& reply, const std::stop_source& stop) {
    context.documents.whenCurrent(argument.at("uri").get<std::string>(), [&context, params, stop,
                                                                          reply = std::move(reply)](
                                                                             auto outcome) mutable {
        if (!outcome)
            return reply.error(std::move(outcome.error()));
        context.runJob("Repairing", params, std::move(reply), stop,
                       [&context, snapshot = *outcome,
                        mayRun = context.workspace.options().executionEnabled &&
                                 context.isTrusted(outcome->get()->uri)](
                           Reply answer, const std::stop_token& token,
                           const WorkDoneProgress& progress) mutable {
                           auto repaired = repairOf(context, *snapshot, mayRun, token, progress);
                           if (!repaired)
                               return answer.error(toResponseError(repaired.error()));
                           auto [result, edits] = std::move(*repaired);
                           if (edits.empty())
                               return answer.result(std::move(result));
                           context.loop.post([&context, snapshot, edits = std::move(edits),
                                              result = std::move(result),
                                              answer = std::move(answer)]() mutable {
                               applyInEditor(context, *snapshot,
                                             {.label = "Repair", .description = {}, .notice = {}},
                                             edits, std::move(result), std::move(answer));
                           });
                       });
    });
}

void registerEditRequests(const ServerContext& context) {
    context.connection.onRequest(
        "codeAction/resolve", [&context](const json& params, Reply& reply, std::stop_source stop) {
            onResolve(context, params, reply, stop);
        });
}

} // namespace kernelskill::lsp
