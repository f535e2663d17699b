/// A rough cost of statements of a kernel, in units of an access to shared memory.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// Keeps a reference to the context.
class StatementCosts {
public:
    explicit StatementCosts(const SkillContext& context) : context_(context) {}

    /// The cost of a statement for one thread: its accesses to memory, barriers and special
    /// functions, times the rounds of the loops around each.
    [[nodiscard]] double of(analysis::StmtId statement) const;
    /// The cost of all special functions in the kernel, each once.
    [[nodiscard]] double ofSpecialFunctions() const;

private:
    [[nodiscard]] std::vector<std::uint32_t> loopsAround(analysis::ExprId expr) const;
    [[nodiscard]] double roundsOf(const std::vector<std::uint32_t>& loops) const;

    const SkillContext& context_;
};

} // namespace kernelskill::skills
