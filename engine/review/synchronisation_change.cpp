#include "engine/review/synchronisation_change.h"

#include "analysis/syntax/lexer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <map>

namespace kernelskill::engine {
namespace {

/// Names of functions, up to what tells their kinds and scopes apart.
constexpr std::array<std::string_view, 8> prefixes = {
    "atomic",         "__syncthreads",    "__syncwarp", "__threadfence",
    "__barrier_sync", "compare_exchange", "fetch_",     "__iAtomic"};
/// Whole names. `sync` and the others are members of groups and barriers.
constexpr std::array<std::string_view, 6> names = {
    "volatile", "sync", "arrive_and_wait", "barrier_wait", "thread_fence", "exchange"};
/// Instructions in inline assembly.
constexpr std::array<std::string_view, 6> instructions = {"membar",       "fence.", "bar.sync",
                                                          "barrier.sync", "atom.",  "red."};

std::map<std::string, int, std::less<>> usesIn(std::string_view text) {
    std::map<std::string, int, std::less<>> uses;
    for (const analysis::Token& token : analysis::lex(text)) {
        const bool isName =
            token.isIdentifier() && (std::ranges::find(names, token.text) != names.end() ||
                                     std::ranges::any_of(prefixes, [&](std::string_view prefix) {
                                         return token.text.starts_with(prefix);
                                     }));
        if (isName)
            ++uses[std::string(token.text)];
        if (token.kind != analysis::TokenKind::String)
            continue;
        for (const std::string_view instruction : instructions)
            uses[std::string(instruction)] += token.text.contains(instruction) ? 1 : 0;
    }
    return uses;
}

} // namespace

std::vector<LessSynchronisation> lessSynchronisation(std::string_view original,
                                                     std::string_view candidate) {
    const auto before = usesIn(original);
    const auto after = usesIn(candidate);
    std::vector<LessSynchronisation> removed;
    for (const auto& [name, count] : before) {
        const auto kept = after.find(name);
        const int left = kept == after.end() ? 0 : kept->second;
        if (left < count)
            removed.push_back({name, count, left});
    }
    return removed;
}

bool usesMoreThanBarriers(std::string_view text) {
    return std::ranges::any_of(usesIn(text), [](const auto& use) {
        const std::string& name = use.first;
        return use.second > 0 && !name.contains("sync") && !name.contains("barrier");
    });
}

std::string describe(const std::vector<LessSynchronisation>& removed) {
    std::string text;
    for (std::size_t i = 0; i < removed.size(); ++i) {
        text += i == 0 ? "" : i + 1 == removed.size() ? " and " : ", ";
        text += fmt::format("{} of {} '{}'", removed[i].before - removed[i].after,
                            removed[i].before, removed[i].name);
    }
    return text;
}

} // namespace kernelskill::engine
