#include "lsp-server/report/ruled_out_text.h"

#include "lsp-server/report/remedy_text.h"

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

std::string whyNothingIsOffered(const std::string& kernel, const engine::Plan& plan) {
    constexpr std::size_t maxRemedies = 2;
    std::string text = fmt::format("No edit is offered for '{}'.", kernel);
    for (std::size_t i = 0; i < std::min(plan.remedies.size(), maxRemedies); ++i)
        text += fmt::format(" What would help is {}: {}.", plan.remedies[i].method,
                            describeRemedy(plan.remedies[i]));
    return text + fmt::format(" {} skills were ruled out: the hover on the kernel's name and "
                              "`kernelskill check --why` list the reasons.",
                              plan.ruledOut.size());
}

} // namespace kernelskill::lsp
