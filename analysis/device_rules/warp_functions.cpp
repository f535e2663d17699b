#include "analysis/device_rules/rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace kernelskill::analysis {
namespace {

constexpr auto successors = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"__all", "__all_sync"},
    {"__any", "__any_sync"},
    {"__ballot", "__ballot_sync"},
    {"__shfl", "__shfl_sync"},
    {"__shfl_down", "__shfl_down_sync"},
    {"__shfl_up", "__shfl_up_sync"},
    {"__shfl_xor", "__shfl_xor_sync"},
});

/// Whether the file defines the name itself: by `#define __shfl(...)` or as a function.
bool isDefinedIn(const DeviceRuleInput& input, std::string_view name) {
    for (std::size_t index = 0; index < input.tokens.size(); ++index) {
        const Token& token = input.tokens[index];
        if (token.kind == TokenKind::Directive) {
            const auto words = lex(token.text.substr(token.text.find('#') + 1));
            if (words.size() > 1 && words[0].text == "define" && words[1].text == name)
                return true;
        }
        // `float __shfl(float v, int lane)` is a declaration; `return __shfl(v, 0)` is not.
        const bool isDeclared = token.text == name && index > 0 &&
                                input.tokens[index - 1].kind == TokenKind::Identifier &&
                                input.tokens[index - 1].text != "return";
        if (isDeclared)
            return true;
    }
    return false;
}

} // namespace

std::string_view successorOfWarpFunction(std::string_view name) {
    const auto* const known =
        std::ranges::find(successors, name, &std::pair<std::string_view, std::string_view>::first);
    return known == successors.end() ? std::string_view{} : known->second;
}

void checkWarpFunctions(const DeviceRuleInput& input, std::vector<Diagnostic>& findings) {
    constexpr int withoutThem = 70;
    const bool isRemoved = input.architecture.value_or(withoutThem) >= withoutThem;
    for (std::size_t index = 0; index + 1 < input.tokens.size(); ++index) {
        const Token& token = input.tokens[index];
        const std::string_view successor = successorOfWarpFunction(token.text);
        if (successor.empty() || input.tokens[index + 1].text != "(" ||
            isDefinedIn(input, token.text))
            continue;
        const std::string gone = input.architecture
                                     ? "there is none on sm_" + std::to_string(*input.architecture)
                                     : "it is gone from sm_70 on and from CUDA 13";
        findings.push_back(input.found(
            token.span, isRemoved ? Severity::Error : Severity::Warning, "removed-warp-function",
            "'" + std::string(token.text) + "' does not say which lanes participate: " +
                (isRemoved ? gone : "deprecated since CUDA 9") + "; '" + std::string(successor) +
                "' takes their mask first"));
    }
}

} // namespace kernelskill::analysis
