/// Planner: ranks the skills for a kernel by features, bottleneck and memory, and explains the
/// order. The order follows from a table.
#pragma once

#include "engine/findings/plain_form.h"
#include "engine/findings/prepared_offers.h"
#include "engine/memory/long_term_memory.h"
#include "engine/memory/short_term_memory.h"
#include "engine/planning/plan.h"

#include <memory>
#include <stop_token>
#include <vector>

namespace kernelskill::engine {

struct PlannerInput {
    const analysis::FileModel& file;
    const analysis::KernelModel& kernel;
    const analysis::Features& features;
    const Bottleneck& bottleneck;
    analysis::Span range; ///< The cursor, or the kernel's span for the whole kernel.
    const std::vector<MemoryEntry>& memory;
    /// The outcomes of skills on this bottleneck; empty if there is no long-term memory.
    std::vector<SkillRecord> records = {};
    bool wantsAlternatives = false; ///< Adds the further options of each skill, for a search.
    /// Null if the kernel was not compiled; skills that need this say so.
    const skills::CompiledKernel* compiled = nullptr;
    /// The kept answers of the skills for the same `compiled`. The planner takes these instead of
    /// asking again, and adds the others. Null: every skill is asked.
    PreparedOffers* prepared = nullptr;
    /// Offers for the kernel's plain form. Null: there are none.
    const PlainOffers* plain = nullptr;
};

/// Cheap: calls prepare() of each skill once, unless its answer is kept, and alternatives() if they
/// are wanted. Thread-safe.
class Planner {
public:
    /// Both arguments outlive the planner.
    Planner(const std::vector<std::unique_ptr<skills::Skill>>& catalogue,
            const std::vector<skills::SkillMetadata>& documents);
    /// When `stop` is requested, no further skill is asked, and the plan is empty.
    [[nodiscard]] Plan plan(const PlannerInput& input, const std::stop_token& stop) const;

private:
    const std::vector<std::unique_ptr<skills::Skill>>& catalogue_;
    const std::vector<skills::SkillMetadata>& documents_;
};

} // namespace kernelskill::engine
