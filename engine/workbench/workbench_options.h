/// What a workbench is made of: where its files are, and what it may use.
#pragma once

#include "engine/execution/gpu/slurm_job.h"
#include "skills/base/skill_folder.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct WorkbenchOptions {
    std::filesystem::path executable;     ///< Program that the emulator's worker is started from.
    std::filesystem::path dataDirectory;  ///< Built-in SKILL.md files are in dataDirectory/skills.
    std::filesystem::path cacheDirectory; ///< Empty: the user's cache folder.
    std::filesystem::path hostCompiler;   ///< Empty: searched on PATH.
    std::filesystem::path userDataDirectory; ///< Long-term memory; empty: the user's data folder.
    /// GPU that estimates are made for, see engine/diagnosis/gpus.h; empty: an H200.
    std::string gpu;
    /// Path of kernelskill-runner; empty: nothing is measured, even if there is a GPU.
    std::filesystem::path runner;
    std::optional<gpu::SlurmJob> slurm = std::nullopt; ///< Measure there, not on this machine.
    /// Folders of the user's skills; of two skills with one name the first counts.
    std::vector<skills::SkillFolder> skillFolders = {};
};

} // namespace kernelskill::engine
