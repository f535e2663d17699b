/// The engine's front door for the language server and the command line. Owns the skills, the
/// machines that kernels run on, and what is known about kernels; knows no protocol.
#pragma once

#include "analysis/command/toolchain.h"
#include "engine/graph/reference/torch_reference.h"
#include "engine/workbench/change_verifier.h"
#include "engine/workbench/hazard_fix_finder.h"
#include "engine/workbench/kernel_knowledge.h"
#include "engine/workbench/machines.h"
#include "engine/workbench/profiler.h"
#include "engine/workbench/skill_advisor.h"
#include "engine/workbench/workbench_options.h"
#include "skills/skill_library.h"

namespace kernelskill::engine {

/// Every part is thread-safe.
class Workbench {
public:
    Workbench(WorkbenchOptions options, analysis::Toolchain toolchain);
    Workbench(const Workbench&) = delete;
    Workbench& operator=(const Workbench&) = delete;

    [[nodiscard]] const WorkbenchOptions& options() const { return options_; }
    /// The built-in skills and the user's, with errors of SKILL.md files that could not be read.
    [[nodiscard]] const skills::SkillLibrary& library() const { return library_; }
    [[nodiscard]] const analysis::Toolchain& toolchain() const { return toolchain_; }

    /// The emulator and the GPU. Calling this runs nothing.
    [[nodiscard]] Machines& machines() const { return machines_; }
    /// Cheap answers about kernels, fit for every cursor move.
    [[nodiscard]] KernelKnowledge& knowledge() const { return knowledge_; }
    /// Runs and compiles kernels.
    [[nodiscard]] const Profiler& profiler() const { return profiler_; }
    [[nodiscard]] HazardFixFinder& hazardFixes() const { return hazardFixes_; }
    /// Plans skills, applies them and searches for the best sequence.
    [[nodiscard]] SkillAdvisor& advisor() const { return advisor_; }
    /// Judges changes made by hand.
    [[nodiscard]] const ChangeVerifier& verifier() const { return verifier_; }

    /// Returns the client of LibTorch, which computes PyTorch programs. Starts nothing.
    [[nodiscard]] graph::TorchReference& torch() const { return torch_; }

private:
    WorkbenchOptions options_;
    analysis::Toolchain toolchain_;
    skills::SkillLibrary library_;
    mutable Machines machines_{options_, toolchain_};
    mutable KernelKnowledge knowledge_{machines_, options_.cacheDirectory};
    Profiler profiler_{machines_, knowledge_};
    mutable HazardFixFinder hazardFixes_{machines_, knowledge_, profiler_};
    mutable SkillAdvisor advisor_{library_, machines_, knowledge_, profiler_,
                                  options_.userDataDirectory};
    ChangeVerifier verifier_{machines_, profiler_};
    mutable graph::TorchReference torch_{options_.torch};
};

} // namespace kernelskill::engine
