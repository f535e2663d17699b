/// The commands that change the user's text, always through workspace/applyEdit.
#pragma once

#include "analysis/source/json.h"
#include "lsp-server/features/workspace_edit.h"
#include "lsp-server/server/applied_notice.h"
#include "lsp-server/server/server_context.h"

#include <optional>
#include <string>

namespace kernelskill::lsp {

/// The place that a command's argument names.
struct CommandTarget {
    const analysis::KernelModel* kernel = nullptr; ///< One of the snapshot's.
    analysis::Span range;                          ///< The line, or the whole kernel.
};

/// By {kernel}, {line} or {position}; the first kernel when none is given.
[[nodiscard]] Result<CommandTarget> findTarget(const Snapshot& snapshot,
                                               const nlohmann::json& argument);

/// The snapshot that a code action's `data` was made from, or why it may not be used any more.
void whenUnchanged(const ServerContext& context, const nlohmann::json& data,
                   DocumentWorker::SnapshotReader reader);

/// The words for a reviewed edit: the verdict with what was checked, whether the
/// settings want a preview, and how to take it back.
[[nodiscard]] EditAnnotation annotationOf(const ServerContext& context, std::string label,
                                          const engine::Verdict& verdict);

/// Gives a resolved `action` the command that shows the notice: the client applies the action's
/// edit by itself, and runs the command after it. Without effect where the client does not resolve
/// commands.
void addNotice(nlohmann::json& action, const ServerContext& context,
               const EditAnnotation& annotation);
/// {notice}: what addNotice() gave the action.
void tellAppliedCommand(const ServerContext& context, const nlohmann::json& argument, Reply& reply);

/// Asks the client to apply `edits`, which may ask the user, shows the notice if it was applied,
/// and answers with `result` plus `applied`.
void applyInEditor(const ServerContext& context, const Snapshot& snapshot,
                   const EditAnnotation& annotation, const analysis::EditSet& edits,
                   nlohmann::json result, Reply reply);

/// As above, for an edit that is made already. The notice offers to take `applied` back.
void applyInEditor(const ServerContext& context, const EditAnnotation& annotation,
                   nlohmann::json edit, std::optional<AppliedEdit> applied, nlohmann::json result,
                   Reply reply);

/// {uri, skill, kernel|line}, or the data of a code action. Reviews, applies, answers {skill,
/// edits, verdict, applied}.
void applySkillCommand(const ServerContext& context, const nlohmann::json& argument,
                       const nlohmann::json& params, Reply& reply, const std::stop_source& stop);
/// The data of a code action.
void applyFixCommand(const ServerContext& context, const nlohmann::json& argument, Reply& reply);
/// {uri, kernel|line}. Puts the launch that is guessed above the kernel, for the user to change.
void pinLaunchCommand(const ServerContext& context, const nlohmann::json& argument, Reply& reply);
/// {uri}. Answers {status, diagnosis, edits, applied}.
void repairCommand(const ServerContext& context, const nlohmann::json& argument,
                   const nlohmann::json& params, Reply& reply, const std::stop_source& stop);

} // namespace kernelskill::lsp
