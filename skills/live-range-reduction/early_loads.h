/// Loads whose values lie in registers through a loop with barriers that has no use for them.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct EarlyLoad {
    analysis::VariableId variable = analysis::noId;
    analysis::StmtId declaration = analysis::noId; ///< `const float4 speed = speeds[i];`
    analysis::StmtId firstUse = analysis::noId;    ///< In the same block, behind the loop.
    analysis::StmtId loop = analysis::noId;        ///< The first with a barrier in between.
    std::uint32_t registers = 0;                   ///< That the value takes.
};

/// In the order of the source; not empty. A load can stand before its first use just as well: it is
/// executed by the same threads, the variables in it do not change in between, and the kernel
/// writes nothing to the memory that it reads. The compiler leaves it where it is, since what a
/// barrier lets other threads write is nothing that it knows. Refuses with `no-early-load`, or with
/// what speaks against the first load that lies through such a loop: `value-changes`,
/// `may-alias`, `between-directives`, `several-statements-a-line`, `goto`.
[[nodiscard]] Gated<std::vector<EarlyLoad>> findEarlyLoads(const SkillContext& context,
                                                           const analysis::CodeMap& code);

} // namespace kernelskill::skills
