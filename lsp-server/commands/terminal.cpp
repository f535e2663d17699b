#include "lsp-server/commands/terminal.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cstdlib>
#include <unistd.h>

namespace kernelskill::lsp {

namespace {

bool wantsColour(std::FILE* stream) {
    const char* noColour = std::getenv("NO_COLOR");
    return ::isatty(::fileno(stream)) == 1 && (noColour == nullptr || *noColour == '\0');
}

} // namespace

Terminal::Terminal(std::FILE* stream) : hasColour_(wantsColour(stream)) {}

std::string Terminal::paint(Colour colour, std::string_view text) const {
    if (!hasColour_)
        return std::string(text);
    constexpr std::array codes{1, 2, 31, 32, 33, 34, 36};
    return fmt::format("\033[{}m{}\033[0m", codes.at(static_cast<std::size_t>(colour)), text);
}

std::string Terminal::paintDiff(std::string_view diff) const {
    std::string result;
    while (!diff.empty()) {
        const std::size_t end = std::min(diff.find('\n'), diff.size());
        const std::string_view line = diff.substr(0, end);
        if (line.starts_with("+++") || line.starts_with("---"))
            result += paint(Colour::Bold, line);
        else if (line.starts_with('+'))
            result += paint(Colour::Green, line);
        else if (line.starts_with('-'))
            result += paint(Colour::Red, line);
        else if (line.starts_with("@@"))
            result += paint(Colour::Cyan, line);
        else
            result += line;
        result += '\n';
        diff.remove_prefix(std::min(end + 1, diff.size()));
    }
    return result;
}

} // namespace kernelskill::lsp
