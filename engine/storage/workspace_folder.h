/// The folder `.kernelskill` of a workspace, and git.
#pragma once

#include <filesystem>

namespace kernelskill::engine {

/// Puts a `.gitignore` into the folder, which must exist, unless there is one: what KernelSkill
/// writes there (memory, captures, the picked program) is of this machine, while skills and
/// programs that the user writes there are not ignored. To be called before anything is written
/// there. If it cannot be written, nothing happens.
void ignoreInGit(const std::filesystem::path& folder);

} // namespace kernelskill::engine
