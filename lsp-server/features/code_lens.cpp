#include "lsp-server/features/code_lens.h"

#include "lsp-server/features/code_actions.h"
#include "lsp-server/report/gpu_text.h"

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

json command(const Snapshot& snapshot, const analysis::KernelModel& kernel,
             const std::string& what) {
    const json target{{"uri", snapshot.uri}, {"kernel", kernel.qualifiedName}};
    if (what == "bottleneck") {
        const auto diagnosis =
            snapshot.workbench->knowledge().diagnosis({snapshot.program, kernel});
        std::string title(spelling(diagnosis->kind));
        const auto report =
            snapshot.workbench->knowledge().cachedReport({snapshot.program, kernel});
        const auto measured = report ? measuredHeadline(*report) : std::string();
        if (!measured.empty())
            title += " · " + measured;
        else if (!diagnosis->headroom.empty())
            title += fmt::format(" · {} headroom", diagnosis->headroom);
        return {{"title", title},
                {"command", "kernelskill.explain"},
                {"arguments", json::array({target})}};
    }
    if (what == "profile") {
        const bool isKnown =
            snapshot.workbench->knowledge().cachedReport({snapshot.program, kernel}).has_value();
        return {{"title", isKnown ? "Profile again" : "Profile"},
                {"command", "kernelskill.profile"},
                {"arguments", json::array({target})}};
    }
    if (what == "profileOnGpu") {
        json argument = target;
        argument["on"] = "gpu";
        return {{"title", "Profile on GPU"},
                {"command", "kernelskill.profile"},
                {"arguments", json::array({std::move(argument)})}};
    }
    if (what == "optimize")
        return {{"title", "Optimize"},
                {"command", "kernelskill.optimize"},
                {"arguments", json::array({target})}};
    const engine::Plan plan = snapshot.workbench->advisor().plan({snapshot.program, kernel},
                                                                 kernel.span, snapshot.memory());
    if (plan.ranked.empty() || plan.ranked.front().failedBefore)
        return {{"title", "No skill fits"},
                {"command", "kernelskill.explain"},
                {"arguments", json::array({target})}};
    const skills::Offer& best = plan.ranked.front().offer;
    json argument = target;
    argument["skill"] = best.skillId;
    return {{"title", fmt::format("Apply: {}", best.title)},
            {"command", "kernelskill.applySkill"},
            {"arguments", json::array({std::move(argument)})}};
}

} // namespace

json codeLenses(const Snapshot& snapshot, bool mayRun, PositionEncoding encoding) {
    std::vector<const char*> kinds{"bottleneck"};
    if (mayRun) {
        kinds.push_back("profile");
        if (snapshot.workbench->machines().offersGpu())
            kinds.push_back("profileOnGpu");
        kinds.push_back("skill");
    }
    json lenses = json::array();
    for (const analysis::KernelModel& kernel : snapshot.model().kernels) {
        if (!snapshot.isInMainFile(kernel))
            continue;
        const auto add = [&](const char* what) {
            lenses.push_back(
                {{"range", toRange(snapshot.source(), kernel.nameSpan, encoding)},
                 {"data",
                  {{"uri", snapshot.uri}, {"kernel", kernel.qualifiedName}, {"what", what}}}});
        };
        std::ranges::for_each(kinds, add);
        if (mayRun && !hasErrorAt(snapshot, kernel.span))
            add("optimize");
    }
    return lenses;
}

json resolveCodeLens(const Snapshot& snapshot, json lens) {
    const json& data = lens.at("data");
    const auto* kernel = findKernel(snapshot, data.at("kernel").get<std::string>());
    lens["command"] = kernel == nullptr
                          ? json{{"title", ""}, {"command", ""}}
                          : command(snapshot, *kernel, data.at("what").get<std::string>());
    return lens;
}

} // namespace kernelskill::lsp
