/// The commands that change the user's text, always through workspace/applyEdit.
#pragma once

#include "lsp-server/server/server_context.h"

namespace kernelskill::lsp {

/// What a command's argument points at.
struct CommandTarget {
    const analysis::KernelModel* kernel = nullptr; ///< Of the snapshot.
    analysis::Span range;                          ///< The line, or the whole kernel.
};

/// By {kernel}, {line} or {position}; the first kernel when none is given.
[[nodiscard]] Result<CommandTarget> findTarget(const Snapshot& snapshot,
                                               const nlohmann::json& argument);

/// {uri, skill, kernel|line}, or the data of a code action. Reviews, applies, answers {skill,
/// edits, verdict, applied}.
void applySkillCommand(const ServerContext& context, const nlohmann::json& argument,
                       const nlohmann::json& params, Reply& reply, const std::stop_source& stop);
/// The data of a code action.
void applyFixCommand(const ServerContext& context, const nlohmann::json& argument, Reply& reply);
/// {uri}. Answers {status, diagnosis, edits, applied}.
void repairCommand(const ServerContext& context, const nlohmann::json& argument,
                   const nlohmann::json& params, Reply& reply, const std::stop_source& stop);

} // namespace kernelskill::lsp
