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

} // namespace kernelskill::lsp
