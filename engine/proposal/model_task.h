/// A kernel, what is known of it, and what a language model is to do with it.
#pragma once

#include "analysis/features/features.h"
#include "engine/diagnosis/bottleneck.h"
#include "engine/execution/executor.h"
#include "engine/memory/short_term_memory.h"
#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// References and pointers live as long as the call.
struct ModelTask {
    const ProgramSource& program; ///< Its model is set and holds `kernel`.
    const analysis::KernelModel& kernel;
    const analysis::Features& features;
    const Bottleneck* bottleneck = nullptr;       ///< Null: not known.
    const skills::SkillMetadata* skill = nullptr; ///< The method; null: any.
    std::string why = {};                         ///< Why this method; may be empty.
    std::vector<MemoryEntry> history = {};        ///< What was tried on this kernel.
    /// What the edit may do to results. Whoever asks says so, never the model.
    skills::Numerics numerics = skills::Numerics::Exact;
};

} // namespace kernelskill::engine
