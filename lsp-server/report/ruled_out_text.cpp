#include "lsp-server/report/ruled_out_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::lsp {

std::vector<RuledOutGroup> groupByReason(const std::vector<engine::RuledOut>& ruledOut,
                                         std::size_t offered) {
    std::vector<RuledOutGroup> groups;
    for (const engine::RuledOut& each : ruledOut) {
        const auto group = std::ranges::find(groups, each.why, &RuledOutGroup::why);
        if (group == groups.end())
            groups.push_back({each.skill, each.why});
        else
            group->skills += ", " + each.skill;
    }
    if (groups.size() == 1 && ruledOut.size() > 1 && offered == 0)
        groups.front().skills = fmt::format("all {} skills", ruledOut.size());
    return groups;
}

} // namespace kernelskill::lsp
