/// The options of a workbench: where its files are, and what it may use.
#pragma once

#include "engine/execution/gpu/slurm_job.h"
#include "skills/base/skill_folder.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct WorkbenchOptions {
    std::filesystem::path executable; ///< The program that is started as the emulator's worker.
    /// The built-in SKILL.md files are in dataDirectory/skills.
    std::filesystem::path dataDirectory;
    std::filesystem::path cacheDirectory; ///< If empty, the user's cache folder.
    std::filesystem::path hostCompiler;   ///< If empty, it is searched on PATH.
    /// The folder of long-term memory. If empty, the user's data folder.
    std::filesystem::path userDataDirectory;
    /// The GPU of estimates, see engine/diagnosis/gpus.h. If empty, an H200.
    std::string gpu;
    /// The path of kernelskill-runner. If empty, nothing is measured, even if there is a GPU.
    std::filesystem::path runner;
    /// The path of kernelskill-torch. If there is none, PyTorch programs have no reference.
    std::filesystem::path torch;
    /// Whether reviews on a GPU ask compute-sanitizer, which is searched in the toolkit and on
    /// PATH.
    bool asksSanitizer = false;
    /// If set, kernels are measured there and not on this machine.
    std::optional<gpu::SlurmJob> slurm = std::nullopt;
    /// Folders of the user's skills. If two skills have one name, the first one counts.
    std::vector<skills::SkillFolder> skillFolders = {};
};

} // namespace kernelskill::engine
