#include "engine/workbench/workbench.h"

#include "analysis/parse/parsed_units.h"

#include <memory>
#include <utility>

namespace kernelskill::engine {
namespace {

analysis::Toolchain withUnits(analysis::Toolchain toolchain) {
    if (!toolchain.units)
        toolchain.units = std::make_shared<analysis::ParsedUnits>();
    return toolchain;
}

} // namespace

Workbench::Workbench(WorkbenchOptions options, analysis::Toolchain toolchain)
    : options_(std::move(options)), toolchain_(withUnits(std::move(toolchain))),
      library_(skills::loadSkillLibrary(options_.dataDirectory / "skills", options_.skillFolders)) {
}

} // namespace kernelskill::engine
