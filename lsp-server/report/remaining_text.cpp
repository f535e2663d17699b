#include "lsp-server/report/remaining_text.h"

#include "engine/optimization/remaining_loss.h"
#include "lsp-server/report/remedy_text.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace kernelskill::lsp {
std::vector<RemainingLine> remainingLines(const engine::RemainingLoss& remaining) {
    std::vector<RemainingLine> lines;
    if (auto distance = describeDistance(remaining); !distance.empty())
        lines.push_back({"roofline", std::move(distance)});
    const engine::Bottleneck& bottleneck = *remaining.bottleneck;
    lines.push_back({"loss", std::string(spelling(bottleneck.kind))});
    if (!bottleneck.evidence.empty())
        lines.back().text += ": " + bottleneck.evidence.front().text;
    if (auto parts = engine::describeWeights(remaining.parts); !parts.empty())
        lines.push_back({"time", "by the model: " + parts});
    for (const engine::TriedMethod& each : remaining.tried)
        lines.push_back({"tried", fmt::format("{}: {}", each.skill, each.outcome)});
    if (!remaining.notTried.empty())
        lines.push_back({"not tried", fmt::format("{}: the search ended before",
                                                  fmt::join(remaining.notTried, ", "))});
    for (const engine::Remedy& remedy : remaining.remedies)
        lines.push_back(
            {"would take", fmt::format("{}: {}", remedy.method, describeRemedy(remedy))});
    return lines;
}

} // namespace kernelskill::lsp
