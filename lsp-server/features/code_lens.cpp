#include "lsp-server/features/code_lens.h"

#include "analysis/source/json.h"
#include "engine/verification/kernel_changes.h"
#include "lsp-server/features/code_actions.h"
#include "lsp-server/report/evidence_text.h"
#include "lsp-server/report/gpu_text.h"
#include "lsp-server/transport/utf8.h"
#include "skills/skill_document.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

/// The max number of characters of all lenses of a kernel, without the separators. Editors cut off
/// longer lines.
constexpr std::size_t maxLineLength = 60;
constexpr std::size_t maxProgramName = 18;
constexpr std::string_view optimizeTitle = "Optimize";
constexpr std::string_view profileTitle = "Profile";
constexpr std::string_view applyPrefix = "Apply: ";

/// `title` with at most `limit` characters; one that is longer ends in "…", after a word if it can.
std::string shortened(std::string title, std::size_t limit) {
    if (charactersOf(title) <= limit)
        return title;
    std::size_t end = 0;
    for (std::size_t characters = 0; characters + 1 < limit; ++characters)
        end += std::max<std::size_t>(utf8SequenceLength(std::string_view(title).substr(end)), 1);
    const std::size_t space = title.rfind(' ', end);
    title.resize(space == std::string::npos || space == 0 ? end : space);
    return title + "…";
}

/// The bottleneck's name for a lens, shorter than elsewhere.
std::string_view lensNameOf(engine::BottleneckKind kind) {
    switch (kind) {
    case engine::BottleneckKind::MemoryBandwidth:
        return "bandwidth";
    case engine::BottleneckKind::MemoryLatency:
        return "latency";
    case engine::BottleneckKind::UncoalescedAccess:
        return "uncoalesced";
    case engine::BottleneckKind::TensorCoreEligible:
        return "tensor-core";
    default:
        return spelling(kind);
    }
}

/// Texts for the distance to the best possible time, from the longest to the shortest. The lens
/// shows the first one that fits.
std::vector<std::string> distances(const engine::Bottleneck& diagnosis,
                                   const engine::KernelReport* report) {
    if (report != nullptr) {
        if (const MeasuredTexts measured = measuredTexts(*report); !measured.time.empty())
            return measured.percent.empty()
                       ? std::vector{measured.time}
                       : std::vector{measuredHeadline(*report),
                                     measured.time + " · " + measured.percent, measured.time};
    }
    if (diagnosis.headroom == engine::noHeadroom)
        return {"at its limit"};
    if (const auto factor = headroomFactor(diagnosis))
        return {describeHeadroom(diagnosis), factorText(*factor)};
    if (diagnosis.headroom.empty())
        return {};
    return {describeHeadroom(diagnosis), diagnosis.headroom};
}

/// The bottleneck with the longest text for its distance that fits into `limit` characters.
std::string bottleneckTitle(const engine::Bottleneck& diagnosis, const engine::KernelReport* report,
                            std::size_t limit) {
    const std::string name(lensNameOf(diagnosis.kind));
    for (const std::string& distance : distances(diagnosis, report)) {
        std::string title = fmt::format("{} · {}", name, distance);
        if (charactersOf(title) <= limit)
            return title;
    }
    return name;
}

/// "Apply: pad rows"
std::string applyTitle(const Snapshot& snapshot, const skills::Offer& offer) {
    const skills::LensTitles& titles = snapshot.workbench->library().lensTitles;
    const auto title = titles.find(offer.skillId);
    return std::string(applyPrefix) +
           (title == titles.end() ? shortened(offer.title, skills::maxLensTitle) : title->second);
}

/// The lens of the best skill: it applies it, or says that there is none.
json skillCommand(const Snapshot& snapshot, const analysis::KernelModel& kernel) {
    const json target{{"uri", snapshot.uri}, {"kernel", kernel.qualifiedName}};
    const engine::Plan plan = snapshot.workbench->advisor().plan({snapshot.program, kernel},
                                                                 kernel.span, snapshot.memory());
    const engine::RankedSkill* best = engine::bestAnswer(plan);
    if (best == nullptr || plan.uncheckable)
        return {{"title", plan.ranked.empty() ? "No skill fits"
                          : best == nullptr   ? "No skill answers it"
                                              : "Edits unverifiable"},
                {"command", "kernelskill.explain"},
                {"arguments", json::array({target})}};
    json argument = target;
    argument["skill"] = best->offer.skillId;
    return {{"title", applyTitle(snapshot, best->offer)},
            {"command", "kernelskill.applySkill"},
            {"arguments", json::array({std::move(argument)})}};
}

json command(const Snapshot& snapshot, const analysis::KernelModel& kernel,
             const std::string& what) {
    const json target{{"uri", snapshot.uri}, {"kernel", kernel.qualifiedName}};
    if (what == "bottleneck") {
        const auto diagnosis =
            snapshot.workbench->knowledge().diagnosis({snapshot.program, kernel});
        const auto report =
            snapshot.workbench->knowledge().cachedReport({snapshot.program, kernel});
        const std::size_t others =
            optimizeTitle.size() + profileTitle.size() +
            charactersOf(skillCommand(snapshot, kernel).at("title").get<std::string>());
        return {{"title",
                 bottleneckTitle(*diagnosis, report ? &*report : nullptr, maxLineLength - others)},
                {"command", "kernelskill.explain"},
                {"arguments", json::array({target})}};
    }
    if (what == "bottleneckName") // Beside a time in a program.
        return {{"title",
                 lensNameOf(
                     snapshot.workbench->knowledge().diagnosis({snapshot.program, kernel})->kind)},
                {"command", "kernelskill.explain"},
                {"arguments", json::array({target})}};
    if (what == "profile")
        return {{"title", profileTitle},
                {"command", "kernelskill.profile"},
                {"arguments", json::array({target})}};
    if (what == "profileOnGpu") {
        json argument = target;
        argument["on"] = "gpu";
        return {{"title", "Profile on GPU"},
                {"command", "kernelskill.profile"},
                {"arguments", json::array({std::move(argument)})}};
    }
    if (what == "optimize")
        return {{"title", optimizeTitle},
                {"command", "kernelskill.optimize"},
                {"arguments", json::array({target})}};
    if (what == "verify")
        return {{"title", "Verify against HEAD"},
                {"command", "kernelskill.verify"},
                {"arguments", json::array({target})}};
    return skillCommand(snapshot, kernel);
}

/// The lens that tells the kernel's time in a program; nullopt if that is not known of its text.
std::optional<json> programCommand(const KernelShares* program, const Snapshot& snapshot,
                                   const analysis::KernelModel& kernel) {
    const auto time = program == nullptr ? std::nullopt : program->of(snapshot.model(), kernel);
    if (!time)
        return std::nullopt;
    const std::string name = shortened(program->program, maxProgramName);
    return json{{"title", timeInProgramText(*time, name)},
                {"command", "kernelskill.showProgramProfile"},
                {"arguments", {{{"uri", snapshot.uri}, {"name", program->program}}}}};
}

} // namespace

json codeLenses(const Snapshot& snapshot, const LensContext& context, PositionEncoding encoding) {
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
        auto inProgram = programCommand(context.program, snapshot, kernel);
        const bool isInProgram = inProgram.has_value();
        if (isInProgram) {
            add("program");
            lenses.back()["command"] = std::move(*inProgram);
        }
        add(isInProgram ? "bottleneckName" : "bottleneck");
        if (!context.mayRun)
            continue;
        if (!hasErrorAt(snapshot, kernel.span))
            add("optimize");
        add("profile");
        if (snapshot.workbench->machines().offersGpu())
            add("profileOnGpu");
        if (context.head != nullptr &&
            !engine::holdsDefinition(*context.head, snapshot.model(), kernel))
            add("verify");
        add("skill"); // the longest, which is cut off first
    }
    return lenses;
}

json resolveCodeLens(const Snapshot& snapshot, json lens) {
    if (lens.contains("command"))
        return lens;
    const json& data = lens.at("data");
    const auto* kernel = findKernel(snapshot, data.at("kernel").get<std::string>());
    lens["command"] = kernel == nullptr
                          ? json{{"title", ""}, {"command", ""}}
                          : command(snapshot, *kernel, data.at("what").get<std::string>());
    return lens;
}

} // namespace kernelskill::lsp
