#include "lsp-server/features/code_lens.h"

#include "engine/verification/kernel_changes.h"
#include "lsp-server/features/code_actions.h"
#include "lsp-server/report/gpu_text.h"
#include "lsp-server/transport/utf8.h"

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

/// Characters of a title: more, and a line of lenses is wider than an editor of 1,440 pixels.
constexpr std::size_t maxTitleLength = 60;

/// `title` with at most `maxTitleLength` characters; one that is longer ends in "…" after a word.
std::string shortened(std::string title) {
    std::size_t characters = 0;
    std::size_t kept = 0;
    for (std::size_t offset = 0; offset < title.size(); ++characters) {
        if (characters < maxTitleLength && title[offset] == ' ')
            kept = offset;
        offset +=
            std::max<std::size_t>(utf8SequenceLength(std::string_view(title).substr(offset)), 1);
    }
    if (characters <= maxTitleLength)
        return title;
    title.resize(kept);
    return title + "…";
}

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
        else if (diagnosis->headroom == engine::noHeadroom)
            title += " · at its limit";
        else if (!diagnosis->headroom.empty())
            title += fmt::format(" · {} headroom", diagnosis->headroom);
        return {{"title", shortened(std::move(title))},
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
    if (what == "verify")
        return {{"title", "Verify against HEAD"},
                {"command", "kernelskill.verify"},
                {"arguments", json::array({target})}};
    const engine::Plan plan = snapshot.workbench->advisor().plan({snapshot.program, kernel},
                                                                 kernel.span, snapshot.memory());
    const engine::RankedSkill* best = engine::bestAnswer(plan);
    if (best == nullptr || plan.uncheckable)
        return {{"title", plan.ranked.empty() ? "No skill fits"
                          : best == nullptr   ? "No skill answers it"
                                              : "Its edits cannot be checked"},
                {"command", "kernelskill.explain"},
                {"arguments", json::array({target})}};
    json argument = target;
    argument["skill"] = best->offer.skillId;
    return {{"title", shortened(fmt::format("Apply: {}", best->offer.title))},
            {"command", "kernelskill.applySkill"},
            {"arguments", json::array({std::move(argument)})}};
}

/// Whether `tokens` do not hold the kernel's definition, between whole tokens.
bool differsFrom(const std::string& tokens, const Snapshot& snapshot,
                 const analysis::KernelModel& kernel) {
    const std::string own = engine::definitionOf(snapshot.model(), kernel);
    auto at = tokens.find(own);
    while (at != std::string::npos && at != 0 && tokens[at - 1] != ' ')
        at = tokens.find(own, at + 1);
    return at == std::string::npos;
}

} // namespace

json codeLenses(const Snapshot& snapshot, bool mayRun, const std::string* head,
                PositionEncoding encoding) {
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
        add("bottleneck");
        if (!mayRun)
            continue;
        if (!hasErrorAt(snapshot, kernel.span))
            add("optimize");
        add("profile");
        if (snapshot.workbench->machines().offersGpu())
            add("profileOnGpu");
        if (head != nullptr && differsFrom(*head, snapshot, kernel))
            add("verify");
        add("skill"); // the longest, which is cut off first
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
