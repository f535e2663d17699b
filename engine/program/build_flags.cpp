#include "engine/program/build_flags.h"

#include "analysis/command/shell_words.h"
#include "engine/program/command_words.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace kernelskill::engine {
namespace {

bool isCompiler(const std::string& word) {
    return std::filesystem::path(word).filename() == "nvcc";
}

/// Whether the token ends a command on a shell's line.
bool isEnd(const std::string& word) {
    return word == "&&" || word == "||" || word == "|" || word == ";" || word == "&";
}

bool isInput(const std::string& word) {
    constexpr std::array<std::string_view, 9> extensions{".cu", ".c", ".cc", ".cpp", ".cxx",
                                                         ".o",  ".a", ".so", ".ptx"};
    return !word.starts_with('-') &&
           std::ranges::find(extensions, std::filesystem::path(word).extension().string()) !=
               extensions.end();
}

} // namespace

std::vector<std::string> nvccFlagsOf(const std::vector<std::string>& build) {
    // The text of a shell's command is its line.
    const auto words = analysis::splitShellWords(commandText(build));
    std::vector<std::string> flags;
    for (auto at = std::ranges::find_if(words, isCompiler); at != words.end(); ++at) {
        if (isEnd(*at))
            break;
        if (*at == "-o" && std::next(at) != words.end())
            ++at;
        else if (!isCompiler(*at) && !isInput(*at))
            flags.push_back(*at);
    }
    return flags;
}

} // namespace kernelskill::engine
