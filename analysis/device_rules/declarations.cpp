#include "analysis/device_rules/rules.h"

#include <algorithm>
#include <string>

namespace kernelskill::analysis {
namespace {

/// Whether the parentheses at `open` directly contain a comma.
bool holdsComma(const std::vector<Token>& tokens, std::size_t open) {
    const std::size_t close = matchingBracket(tokens, open);
    int depth = 0;
    for (std::size_t index = open; index < std::min(close, tokens.size()); ++index) {
        const std::string_view text = tokens[index].text;
        depth += text == "(" || text == "[" || text == "{" ? 1 : 0;
        depth -= text == ")" || text == "]" || text == "}" ? 1 : 0;
        if (depth == 1 && text == ",")
            return true;
    }
    return false;
}

/// Checks for `(16, 16)` as a dim3, which has the value of its last number.
void checkCommas(const DeviceRuleInput& input, std::vector<Diagnostic>& findings) {
    const std::vector<Token>& tokens = input.tokens;
    for (std::size_t index = 1; index < tokens.size(); ++index) {
        if (tokens[index].text != "(")
            continue;
        const std::string_view before = tokens[index - 1].text;
        const bool isInitializer = index > 2 && before == "=" && tokens[index - 3].text == "dim3";
        const std::size_t close = matchingBracket(tokens, index);
        if (close + 1 >= tokens.size())
            continue;
        const std::string_view behind = tokens[close + 1].text;
        const bool isWhole = behind == ";" || behind == "," || behind == ">>>";
        const bool isExtent =
            isInitializer || before == "<<<" || (before == "," && behind == ">>>");
        if (isExtent && isWhole && holdsComma(tokens, index))
            findings.push_back(input.found(
                {tokens[index].span.begin, tokens[close].span.end}, Severity::Warning, "dim3-comma",
                "'" +
                    std::string(
                        input.text.substr(tokens[index].span.begin,
                                          tokens[close].span.end - tokens[index].span.begin)) +
                    "' has the value after its last comma: write dim3(...) to pass them all"));
    }
}

/// Checks for extern arrays with a size: nvcc makes them static, whatever size the launch passes.
void checkSizedExtern(const DeviceRuleInput& input, std::vector<Diagnostic>& findings) {
    const std::vector<Token>& tokens = input.tokens;
    for (std::size_t index = 0; index + 1 < tokens.size(); ++index) {
        if (tokens[index].text != "extern" || tokens[index + 1].text != "__shared__")
            continue;
        std::size_t bracket = index;
        while (bracket + 1 < tokens.size() && tokens[bracket].text != "[" &&
               tokens[bracket].text != ";")
            ++bracket;
        if (tokens[bracket].text != "[" || tokens[bracket + 1].text == "]")
            continue;
        findings.push_back(input.found(
            tokens[index].span, Severity::Warning, "sized-extern-shared",
            "an array with a size is static: nvcc ignores 'extern', and the shared memory of "
            "the launch comes on top"));
    }
}

} // namespace

void checkDeclarations(const DeviceRuleInput& input, std::vector<Diagnostic>& findings) {
    checkCommas(input, findings);
    checkSizedExtern(input, findings);
}

} // namespace kernelskill::analysis
