/// Where host code can be given streams of its own, beside the one that it uses.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/gates/host_launches.h"

#include <expected>
#include <vector>

namespace kernelskill::skills {

/// Work of one stream, from `first` to `last` in one block.
struct StreamPlace {
    std::uint32_t host = analysis::noId; ///< Index into FileModel::hostFunctions.
    analysis::StmtId first = analysis::noId;
    analysis::StmtId last = analysis::noId; ///< Checks for errors behind the work included.
    analysis::StmtId loop = analysis::noId; ///< The outermost one around them; noId: none.
    analysis::ExprId stream =
        analysis::noId; ///< The stream of all of the work; noId: the default one.
};

/// Refuses with `has-streams` a function that makes streams or graphs: who wrote it has decided
/// what runs beside what.
[[nodiscard]] Gated<void> requireNoStreams(const SkillContext& context, std::uint32_t host);

/// noId for the default stream, else `stream` itself, which is a local variable or a parameter.
/// Refuses others with `stream-not-plain`; `line` is of the work in it.
[[nodiscard]] Gated<analysis::ExprId> plainStream(const analysis::CodeMap& code,
                                                  analysis::ExprId stream, std::uint32_t line);

/// The place of these statements, which stand in a block, in their order. Streams can be made
/// before, and destroyed after, the outermost loop around them. Refuses with `not-followed`,
/// `leaves-the-loop`, `stream-not-plain` or `shares-line`.
[[nodiscard]] Gated<StreamPlace> placeOf(const SkillContext& context, std::uint32_t host,
                                         analysis::ExprId stream,
                                         const std::vector<analysis::StmtId>& statements);

} // namespace kernelskill::skills
