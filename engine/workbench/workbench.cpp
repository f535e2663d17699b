#include "engine/workbench/workbench.h"

#include <utility>

namespace kernelskill::engine {

Workbench::Workbench(WorkbenchOptions options, analysis::Toolchain toolchain)
    : options_(std::move(options)), toolchain_(std::move(toolchain)),
      library_(skills::loadSkillLibrary(options_.dataDirectory / "skills", options_.skillFolders)) {
}

} // namespace kernelskill::engine
