/// Planner: features, bottleneck and memory in; a ranked, explained plan out. A table, no guessing.
#pragma once

#include "engine/memory/long_term_memory.h"
#include "engine/memory/short_term_memory.h"
#include "engine/planning/plan.h"

#include <memory>
#include <vector>

namespace kernelskill::engine {

struct PlannerInput {
    const analysis::FileModel& file;
    const analysis::KernelModel& kernel;
    const analysis::Features& features;
    const Bottleneck& bottleneck;
    analysis::Span range; ///< The cursor, or the kernel's span for the whole kernel.
    const std::vector<MemoryEntry>& memory;
    /// What skills have done on this bottleneck before; empty when there is no long-term memory.
    std::vector<SkillRecord> records = {};
    bool wantsAlternatives = false; ///< Also the further options of each skill, for a search.
    /// Null: not known, and skills that need it say so.
    const skills::CompiledKernel* compiled = nullptr;
};

/// Cheap: it calls each skill's prepare() once, and alternatives() where they are wanted.
/// Thread-safe.
class Planner {
public:
    /// Both outlive the planner.
    Planner(const std::vector<std::unique_ptr<skills::Skill>>& catalogue,
            const std::vector<skills::SkillMetadata>& documents);
    [[nodiscard]] Plan plan(const PlannerInput& input) const;

private:
    const std::vector<std::unique_ptr<skills::Skill>>& catalogue_;
    const std::vector<skills::SkillMetadata>& documents_;
};

} // namespace kernelskill::engine
