#include "engine/verification/kernel_renames.h"

#include "analysis/syntax/lexer.h"
#include "engine/verification/kernel_changes.h"

#include <algorithm>
#include <functional>

namespace kernelskill::engine {
namespace {

using Kernels = std::vector<const analysis::KernelModel*>;

/// The kernels of `model` of which `other` has none of that name.
Kernels onlyIn(const analysis::FileModel& model, const analysis::FileModel& other) {
    Kernels kernels;
    for (const analysis::KernelModel& kernel : model.kernels) {
        const bool isKnown = std::ranges::any_of(
            kernels, [&](const auto* each) { return each->qualifiedName == kernel.qualifiedName; });
        if (!isKnown && analysis::kernelNamed(other, kernel.qualifiedName) == nullptr)
            kernels.push_back(&kernel);
    }
    return kernels;
}

std::string_view scopeOf(const analysis::KernelModel& kernel) {
    std::string_view scope = kernel.qualifiedName;
    scope.remove_suffix(std::min(scope.size(), kernel.name.size()));
    return scope;
}

bool mentions(const analysis::FileModel& model, std::string_view name) {
    const auto isName = [&](const analysis::Token& token) {
        return token.isIdentifier() && token.text == name;
    };
    const auto holds = [&](const std::string& text) {
        return std::ranges::any_of(analysis::lex(text), isName);
    };
    return holds(model.source->text()) ||
           std::ranges::any_of(model.otherSources,
                               [&](const auto& each) { return holds(each.second->text()); });
}

using IsAlike =
    std::function<bool(const analysis::KernelModel& before, const analysis::KernelModel& after)>;

/// Moves the pairs that are alike, each kernel in one pair alone, from the two lists to `renames`.
void takePairs(Kernels& gone, Kernels& added, const IsAlike& isAlike,
               std::vector<KernelRename>& renames) {
    std::vector<KernelRename> found;
    for (const analysis::KernelModel* before : gone) {
        const auto isPartner = [&](const auto* after) { return isAlike(*before, *after); };
        if (std::ranges::count_if(added, isPartner) != 1)
            continue;
        const auto* after = *std::ranges::find_if(added, isPartner);
        const auto others =
            std::ranges::count_if(gone, [&](const auto* each) { return isAlike(*each, *after); });
        if (others == 1)
            found.push_back({before, after});
    }
    for (const KernelRename& rename : found) {
        std::erase(gone, rename.before);
        std::erase(added, rename.after);
        renames.push_back(rename);
    }
}

} // namespace

std::vector<KernelRename> renamedKernels(const analysis::FileModel& before,
                                         const analysis::FileModel& after) {
    Kernels gone = onlyIn(before, after);
    Kernels added = onlyIn(after, before);
    std::erase_if(added, [&](const auto* kernel) { return mentions(before, kernel->name); });
    std::vector<KernelRename> renames;
    takePairs(
        gone, added,
        [&](const auto& one, const auto& other) {
            return scopeOf(one) == scopeOf(other) &&
                   withIdentifier(definitionOf(before, one), one.name, other.name) ==
                       definitionOf(after, other);
        },
        renames);
    takePairs(
        gone, added,
        [](const auto& one, const auto& other) {
            return scopeOf(one) == scopeOf(other) && signatureOf(one) == signatureOf(other);
        },
        renames);
    return renames;
}

std::string withIdentifier(std::string_view text, std::string_view from, std::string_view to) {
    std::vector<std::size_t> places;
    const auto search = [&](std::string_view part, std::size_t offset) {
        for (const analysis::Token& token : analysis::lex(part))
            if (token.isIdentifier() && token.text == from)
                places.push_back(offset + token.span.begin);
    };
    search(text, 0);
    // The lexer makes a directive one token and drops a comment, so both are searched without their
    // mark.
    for (const analysis::Token& token : analysis::lex(text))
        if (token.kind == analysis::TokenKind::Directive)
            search(token.text.substr(1), token.span.begin + 1);
    for (const analysis::Comment& comment : analysis::findComments(text))
        search(comment.text.substr(2), comment.span.begin + 2);
    std::ranges::sort(places);
    std::string result;
    std::size_t copied = 0;
    for (const std::size_t place : places) {
        result.append(text.substr(copied, place - copied)).append(to);
        copied = place + from.size();
    }
    return result.append(text.substr(copied));
}

} // namespace kernelskill::engine
