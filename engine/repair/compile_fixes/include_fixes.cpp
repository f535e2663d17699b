/// Fixes missing and misspelled #include directives.
#include "engine/repair/compile_fixes/edit_distance.h"
#include "engine/repair/compile_fixes/fix_candidate.h"
#include "engine/repair/compile_fixes/header_table.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using analysis::Diagnostic;
using analysis::TokenKind;

constexpr std::size_t maxSuggestions = 3;

FixCandidate inclusion(const RepairContext& context, std::string_view header) {
    std::string directive = fmt::format("#include <{}>", header);
    return behindIncludes(context, "missing-include", directive,
                          fmt::format("add '{}'", directive));
}

std::vector<FixCandidate> misspelledHeader(const RepairContext& context, const Diagnostic& error) {
    auto wanted = quotedName(error.message);
    std::size_t at = context.tokenAt(error.span.begin);
    if (!wanted || at >= context.tokens.size() || context.tokens[at].kind != TokenKind::Directive)
        return {};
    const analysis::Token& directive = context.tokens[at];
    std::size_t place = directive.text.find(*wanted);
    if (place == std::string_view::npos)
        return {};
    std::set<std::string> names;
    for (std::string_view header : commonHeaders())
        names.emplace(header);
    std::error_code ignored;
    for (const fs::path& folder :
         {context.toolchain.preludeInclude, fs::path(context.model.file).parent_path()}) {
        for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end;
             entry.increment(ignored)) {
            auto extension = entry->path().extension();
            if (extension == ".h" || extension == ".cuh" || extension == ".hpp")
                names.insert(entry->path().filename().string());
        }
    }
    constexpr std::size_t limit = 7; // Half units: three and a half letters.
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (const std::string& name : names) {
        std::size_t distance = editDistance(*wanted, name, std::min(limit, wanted->size()));
        if (distance > 0 && distance < std::min(limit, wanted->size()))
            ranked.emplace_back(distance, name);
    }
    std::ranges::sort(ranked);
    std::vector<FixCandidate> candidates;
    auto begin = directive.span.begin + static_cast<std::uint32_t>(place);
    analysis::Span span{begin, begin + static_cast<std::uint32_t>(wanted->size())};
    for (const auto& [distance, name] : ranked) {
        if (candidates.size() == maxSuggestions)
            break;
        candidates.push_back({"misspelled-include",
                              fmt::format("change '{}' to '{}'", *wanted, name),
                              {{span, name}}});
    }
    return candidates;
}

} // namespace

std::vector<FixCandidate> includeFixes(const RepairContext& context, const Diagnostic& error) {
    const std::string& message = error.message;
    if (message.find("file not found") != std::string::npos)
        return misspelledHeader(context, error);
    std::string name;
    bool isInStd = message.find("in namespace 'std'") != std::string::npos;
    bool isUnknown =
        message.starts_with("use of undeclared identifier") ||
        message.starts_with("unknown type name") || message.starts_with("no member named") ||
        message.starts_with("no type named") || message.starts_with("no template named") ||
        message.starts_with("call to undeclared function") ||
        message.starts_with("use of undeclared") || message.starts_with("unknown class name") ||
        message.starts_with("no matching function for call");
    if (isUnknown) {
        name = quotedName(message).value_or("");
    } else if (message.starts_with("expected namespace name")) {
        std::size_t at = context.tokenAt(error.span.begin);
        name = at < context.tokens.size() ? std::string(context.tokens[at].text) : "";
    } else if (message.find("undefined template 'std::") != std::string::npos ||
               message.find("incomplete type 'std::") != std::string::npos) {
        std::size_t begin = message.find("'std::") + 6;
        name = message.substr(begin, message.find_first_of("<':", begin) - begin);
        isInStd = true;
    }
    if (name.starts_with("std::")) {
        name = name.substr(5);
        isInStd = true;
    }
    // Several headers add to this namespace.
    if (message.find("in namespace 'cooperative_groups'") != std::string::npos)
        name = "cooperative_groups::" + name;
    std::vector<FixCandidate> candidates;
    for (std::string_view header : headersFor(name, isInStd))
        candidates.push_back(inclusion(context, header));
    return candidates;
}

} // namespace kernelskill::engine
