#include "engine/execution/emulator/compile/assembly_guard.h"

#include "analysis/source/trimmed.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kernelskill::engine {
namespace {

/// Directives that compilers write, in order. None of them reads a file, defines a macro or changes
/// the syntax.
constexpr auto knownDirectives = std::to_array<std::string_view>({
    ".2byte",       ".4byte", ".8byte",    ".addrsig",    ".addrsig_sym", ".align",
    ".arch",        ".ascii", ".asciz",    ".balign",     ".base64",      ".bss",
    ".byte",        ".comm",  ".cpu",      ".data",       ".double",      ".dword",
    ".file",        ".float", ".globl",    ".global",     ".hidden",      ".hword",
    ".ident",       ".inst",  ".internal", ".loc",        ".local",       ".long",
    ".nops",        ".octa",  ".p2align",  ".popsection", ".previous",    ".protected",
    ".pushsection", ".quad",  ".section",  ".set",        ".short",       ".single",
    ".size",        ".skip",  ".sleb128",  ".space",      ".string",      ".text",
    ".tlsdesccall", ".type",  ".uleb128",  ".value",      ".variant_pcs", ".weak",
    ".word",        ".xword", ".zero",
});

/// Sections that tell a linker to read files or to start a compiler.
constexpr auto activeSections = std::to_array<std::string_view>(
    {".gnu.lto", ".deplibs", ".linker-option", ".llvm", ".gnu.offload"});

bool isWhite(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}

std::string lowered(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](char c) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    return result;
}

bool isKnown(std::string_view directive) {
    return directive.starts_with(".cfi_") ||
           std::ranges::find(knownDirectives, directive) != knownDirectives.end();
}

/// The position behind the string that begins at `at`; npos if it does not end on its line.
std::size_t afterString(std::string_view line, std::size_t at) {
    for (++at; at < line.size(); ++at) {
        if (line[at] == '\\')
            ++at;
        else if (line[at] == '"')
            return at + 1;
    }
    return std::string_view::npos;
}

/// The statement without the labels before it.
std::string_view withoutLabels(std::string_view statement) {
    while (true) {
        statement = analysis::trimmed(statement);
        std::size_t end = 0;
        if (statement.starts_with('"')) {
            end = afterString(statement, 0);
        } else {
            while (end < statement.size() && !isWhite(statement[end]) && statement[end] != ':' &&
                   statement[end] != '"')
                ++end;
        }
        while (end < statement.size() && isWhite(statement[end]))
            ++end;
        if (end >= statement.size() || statement[end] != ':')
            return statement;
        statement.remove_prefix(end + 1);
    }
}

std::optional<std::string> foreignStatement(std::string_view text) {
    const std::string_view statement = withoutLabels(text);
    if (!statement.starts_with('.'))
        return std::nullopt;
    std::size_t end = 0;
    while (end < statement.size() && !isWhite(statement[end]) && statement[end] != '=' &&
           statement[end] != '"')
        ++end;
    const std::string directive = lowered(statement.substr(0, end));
    const std::string_view rest = analysis::trimmed(statement.substr(end));
    if (rest.starts_with('=') && !rest.starts_with("==")) // A symbol's value.
        return std::nullopt;
    if (!isKnown(directive))
        return "the directive '" + directive + "'";
    const std::string_view name = rest.substr(rest.starts_with('"') ? 1 : 0);
    const bool isActive = directive.ends_with("section") &&
                          std::ranges::any_of(activeSections, [&](std::string_view section) {
                              return name.starts_with(section);
                          });
    return isActive ? std::optional("the section '" +
                                    std::string(name.substr(0, name.find_first_of("\",\t "))) + "'")
                    : std::nullopt;
}

/// One line, read as the assembler reads it: statements are separated by semicolons outside of
/// strings. Whatever could hide a statement from this function is foreign itself.
std::optional<std::string> foreignInLine(std::string_view line) {
    std::size_t begin = 0;
    for (std::size_t at = 0; at < line.size();) {
        const char c = line[at];
        if (c == '"') {
            at = afterString(line, at);
            if (at == std::string_view::npos)
                return "a string without an end";
            continue;
        }
        if (c == '\'' && !analysis::trimmed(line).starts_with('#'))
            return "a character constant";
        if (c == '/' && line.substr(at).starts_with("/*"))
            return "a comment inside of a line";
        if (c == ';') {
            if (auto foreign = foreignStatement(line.substr(begin, at - begin)))
                return foreign;
            begin = at + 1;
        }
        ++at;
    }
    return foreignStatement(line.substr(begin));
}

/// Whether a line between the marks of inline assembly holds no instruction. The emulator's own
/// assembly is comments; compilers write labels and line numbers before they end the region.
bool isHarmlessInside(std::string_view text) {
    if (text.starts_with('#'))
        return true;
    const std::string_view statement = withoutLabels(text);
    return !text.contains(';') &&
           (statement.empty() || statement.starts_with(".loc ") || statement.starts_with(".loc\t"));
}

} // namespace

std::optional<std::string> foreignAssembly(std::string_view assembly) {
    bool isInline = false;
    while (!assembly.empty()) {
        const auto end = std::min(assembly.find_first_of("\n\r"), assembly.size());
        const std::string_view line = assembly.substr(0, end);
        assembly.remove_prefix(std::min(end + 1, assembly.size()));
        const std::string_view text = analysis::trimmed(line);
        if (text.empty())
            continue;
        if (text == "#APP" || text == "#NO_APP") {
            isInline = text == "#APP";
            continue;
        }
        if (auto foreign = foreignInLine(line))
            return foreign;
        if (isInline && !isHarmlessInside(text))
            return "inline assembly";
    }
    return std::nullopt;
}

} // namespace kernelskill::engine
