#include "engine/proposal/kernel_block.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

namespace kernelskill::engine {
namespace {

constexpr std::size_t maxClaimLength = 600;

std::unexpected<Error> refused(std::string what) {
    return std::unexpected(Error{ErrorKind::Unsupported, std::move(what), "the model's reply", {}});
}

bool isFence(std::string_view line) {
    const auto begin = line.find_first_not_of(' ');
    return begin != std::string_view::npos && begin <= 3 && line.substr(begin).starts_with("```");
}

/// The lines without line ends.
std::vector<std::string_view> linesOf(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        auto line = text.substr(0, end);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        lines.push_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::string trimmed(const std::string& text) {
    const auto begin = text.find_first_not_of(" \t\n");
    if (begin == std::string::npos)
        return {};
    // Keep the indentation of the first line.
    const auto lineBegin = begin == 0 ? std::string::npos : text.rfind('\n', begin - 1);
    const auto from = lineBegin == std::string::npos ? 0 : lineBegin + 1;
    return text.substr(from, text.find_last_not_of(" \t\n") - from + 1);
}

std::string plain(const std::string& text) {
    std::string result;
    for (const char c : text) {
        const char shown = c >= ' ' && c <= '~' ? c : ' ';
        if (shown != ' ' || (!result.empty() && result.back() != ' '))
            result += shown;
    }
    result.resize(std::min(result.size(), maxClaimLength));
    while (result.ends_with(' '))
        result.pop_back();
    return result;
}

} // namespace

Result<KernelBlock> kernelBlock(std::string_view reply) {
    std::string code;
    std::string around;
    int fences = 0;
    for (const std::string_view line : linesOf(reply)) {
        if (isFence(line))
            ++fences;
        else
            (fences == 1 ? code : around).append(line).append("\n");
    }
    if (fences == 0)
        return refused("it holds no fenced block with a kernel");
    if (fences == 1)
        return refused("its fenced block does not end");
    if (fences > 2)
        return refused("it holds more than one fenced block");
    return KernelBlock{trimmed(code), plain(around)};
}

} // namespace kernelskill::engine
