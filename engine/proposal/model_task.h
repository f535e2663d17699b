/// The task of a language model: a kernel, what is known of it, and what to do.
#pragma once

#include "analysis/features/features.h"
#include "engine/diagnosis/bottleneck.h"
#include "engine/execution/program_source.h"
#include "engine/memory/short_term_memory.h"
#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// References and pointers are valid during the call.
struct ModelTask {
    const ProgramSource& program; ///< Its model is set and holds `kernel`.
    const analysis::KernelModel& kernel;
    const analysis::Features& features;
    const Bottleneck* bottleneck = nullptr;       ///< Null if unknown.
    const skills::SkillMetadata* skill = nullptr; ///< The method; null if the model may choose.
    std::string why = {};                         ///< The reason for this method; may be empty.
    std::vector<MemoryEntry> history = {};        ///< The earlier attempts on this kernel.
    /// The permitted change of results. The caller decides it, never the model.
    skills::Numerics numerics = skills::Numerics::Exact;
};

} // namespace kernelskill::engine
