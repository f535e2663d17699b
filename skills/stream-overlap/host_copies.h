/// Copies that host code gives to a stream and does not wait for.
#pragma once

#include "skills/base/skill.h"
#include "skills/editing/host_code.h"

#include <optional>
#include <string>

namespace kernelskill::skills {

/// `cudaMemcpyAsync(to, from, bytes, kind, stream)` or `cudaMemsetAsync(to, value, bytes, stream)`.
struct AsyncCopy {
    enum class Direction : std::uint8_t { ToDevice, ToHost, OnDevice, Unknown };

    analysis::ExprId call = analysis::noId;
    analysis::ExprId to = analysis::noId;
    analysis::ExprId from = analysis::noId; ///< noId: memory is set.
    analysis::ExprId bytes = analysis::noId;
    analysis::ExprId stream = analysis::noId; ///< noId: the default one, by leaving it out.
    Direction direction = Direction::OnDevice;
    analysis::Span streamSpan; ///< Its text; empty, before the closing bracket, where left out.
};

/// The copy that a statement of the host function is, alone or within a check for errors,
/// `CHECK(cudaMemcpyAsync(...));`; nullopt where it is none.
[[nodiscard]] std::optional<AsyncCopy> copyAt(const SkillContext& context, std::uint32_t host,
                                              analysis::StmtId stmt);

/// The copy in another stream.
[[nodiscard]] analysis::TextEdit inStream(const AsyncCopy& copy, const std::string& stream);

} // namespace kernelskill::skills
