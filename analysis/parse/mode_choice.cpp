#include "analysis/parse/mode_choice.h"

#include "analysis/command/include_search.h"
#include "analysis/source/files.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

namespace kernelskill::analysis {

namespace {

namespace fs = std::filesystem;

/// Whether it is CUDA's include folder, or a folder inside it such as include/cccl.
bool isToolkitFolder(const fs::path& directory) {
    return isFile(directory / "cuda_runtime.h") ||
           isFile(directory.lexically_normal().parent_path() / "cuda_runtime.h");
}

/// Whether a word in a message belongs to the language and not to a header.
bool isLanguageWord(std::string_view word) {
    constexpr auto words = std::to_array<std::string_view>(
        {"bool", "char", "class", "const", "double", "float", "int", "long", "short", "signed",
         "std", "struct", "typename", "unsigned", "void"});
    return std::ranges::binary_search(words, word);
}

std::uint64_t hashOf(std::string_view word) {
    return std::hash<std::string_view>{}(word);
}

bool isWordCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void addWords(std::string_view text, std::vector<std::uint64_t>& words) {
    for (std::size_t at = 0; at < text.size();) {
        if (!isWordCharacter(text[at])) {
            ++at;
            continue;
        }
        const std::size_t begin = at;
        while (at < text.size() && isWordCharacter(text[at]))
            ++at;
        words.push_back(hashOf(text.substr(begin, at - begin)));
    }
}

std::vector<std::uint64_t> sortedSet(std::vector<std::uint64_t> words) {
    std::ranges::sort(words);
    const auto repeated = std::ranges::unique(words);
    words.erase(repeated.begin(), repeated.end());
    words.shrink_to_fit();
    return words;
}

/// The words of the headers `names` in `folder`, and of their includes in `folder`.
std::vector<std::uint64_t> wordsOf(const fs::path& folder, const std::set<std::string>& names) {
    std::vector<fs::path> pending;
    std::set<fs::path> seen;
    const auto want = [&](const fs::path& path) {
        if (isFile(path) && seen.insert(path).second)
            pending.push_back(path);
    };
    for (const std::string& name : names)
        want((folder / name).lexically_normal());
    std::vector<std::uint64_t> words;
    while (!pending.empty()) {
        const fs::path path = std::move(pending.back());
        pending.pop_back();
        const std::string text = readFile(path).value_or("");
        addWords(text, words);
        for (const Include& include : includeDirectives(text)) {
            want((path.parent_path() / includeName(include.spelling)).lexically_normal());
            want((folder / includeName(include.spelling)).lexically_normal());
        }
    }
    return sortedSet(std::move(words));
}

} // namespace

CompileCommand withoutToolkitFolders(CompileCommand command) {
    std::erase_if(command.includeDirs, isToolkitFolder);
    std::erase_if(command.systemIncludeDirs, isToolkitFolder);
    return command;
}

bool isOnlyInToolkit(std::string_view name, const Toolchain& toolchain) {
    if (!toolchain.toolkit)
        return false;
    const fs::path include = toolchain.toolkit->root / "include";
    if (!isFile(include / name) && !isFile(include / "cccl" / name))
        return false;
    const bool isLibrary = name.contains('/') && !name.starts_with("cooperative_groups/");
    return isLibrary || !isFile(toolchain.preludeInclude / name);
}

std::set<std::string> namesInErrors(const std::vector<Diagnostic>& diagnostics) {
    std::set<std::string> names;
    for (const Diagnostic& diagnostic : diagnostics) {
        if (diagnostic.severity != Severity::Error ||
            diagnostic.origin != DiagnosticOrigin::Compiler)
            continue;
        const std::string_view message = diagnostic.message;
        for (auto open = message.find('\''); open != std::string_view::npos;) {
            const auto close = message.find('\'', open + 1);
            if (close == std::string_view::npos)
                break;
            for (const Token& token : lex(message.substr(open + 1, close - open - 1)))
                if (token.kind == TokenKind::Identifier && !isLanguageWord(token.text))
                    names.emplace(token.text);
            open = message.find('\'', close + 1);
        }
    }
    return names;
}

HeaderWords::HeaderWords(const Toolchain& toolchain, const std::set<std::string>& includes) {
    std::set<std::string> names = includes;
    names.insert("cuda_runtime.h");
    toolkit_ = wordsOf(toolchain.toolkit->root / "include", names);
    names.insert("prelude.h");
    prelude_ = wordsOf(toolchain.preludeInclude, names);
}

bool HeaderWords::isInToolkit(std::string_view word) const {
    return std::ranges::binary_search(toolkit_, hashOf(word));
}

bool HeaderWords::isOnlyInToolkit(std::string_view word) const {
    return isInToolkit(word) && !std::ranges::binary_search(prelude_, hashOf(word));
}

} // namespace kernelskill::analysis
