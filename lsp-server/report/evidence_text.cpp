#include "lsp-server/report/evidence_text.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::lsp {

std::string describeEvidence(const engine::Evidence& evidence) {
    if (!evidence.line)
        return evidence.text;
    const std::string place = fmt::format("line {}", *evidence.line + 1);
    const auto named = evidence.text.find(place);
    const auto end = named + place.size();
    const bool isNamed =
        named != std::string::npos &&
        (end == evidence.text.size() || evidence.text[end] < '0' || evidence.text[end] > '9');
    return isNamed ? evidence.text : fmt::format("{} ({})", evidence.text, place);
}

std::string describeGain(const engine::Gain& gain) {
    return "a fix may make it " + describe(gain);
}

std::string factorText(double factor) {
    return factor < 10 ? fmt::format("{:.2g}×", factor) : fmt::format("{:.0f}×", factor);
}

std::string describeHeadroom(const engine::Bottleneck& bottleneck) {
    if (bottleneck.headroom == engine::noHeadroom)
        return "at its limit";
    if (const auto factor = headroomFactor(bottleneck))
        return factorText(*factor) + " headroom";
    return bottleneck.headroom.empty() ? std::string() : bottleneck.headroom + " headroom";
}

std::optional<double> headroomFactor(const engine::Bottleneck& bottleneck) {
    constexpr double leastShown = 1.05;
    if (!bottleneck.gain || bottleneck.headroom != headroomOf(*bottleneck.gain) ||
        bottleneck.gain->factor.high < leastShown)
        return std::nullopt;
    return bottleneck.gain->factor.high;
}

} // namespace kernelskill::lsp
