#include "lsp-server/report/remedy_text.h"

#include "engine/planning/remedy_table.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::lsp {

std::string describeRemedy(const engine::Remedy& remedy) {
    if (remedy.method == engine::nothingToDo)
        return fmt::format("{}: {}", remedy.text, remedy.why);
    if (remedy.isSkill)
        return fmt::format("{}; not offered: {}", remedy.text, remedy.why);
    return fmt::format("{}; not automated here: {}", remedy.text, remedy.why);
}

std::string describeUncheckable(const Error& obstacle) {
    return fmt::format("No run can check an edit of this kernel: {}{}{}", obstacle.what,
                       obstacle.remedy.empty() ? "" : "; ", obstacle.remedy);
}

} // namespace kernelskill::lsp
