#include "engine/assembly/called_functions.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

bool isSymbolPart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

/// Whether `text` contains `symbol` as a whole word.
bool names(std::string_view text, std::string_view symbol) {
    for (auto at = text.find(symbol); at != std::string_view::npos;
         at = text.find(symbol, at + 1)) {
        const auto end = at + symbol.size();
        if ((at == 0 || !isSymbolPart(text[at - 1])) &&
            (end == text.size() || !isSymbolPart(text[end])))
            return true;
    }
    return false;
}

} // namespace

std::optional<Listing> withCalledFunctions(Listing listing, const std::string& symbol) {
    const auto& functions = listing.functions;
    const auto kernel = std::ranges::find(functions, symbol, &AssemblyFunction::symbol);
    if (kernel == functions.end())
        return std::nullopt;
    const auto endOf = [&](std::size_t function) {
        return function + 1 < functions.size()
                   ? functions[function + 1].first
                   : static_cast<std::uint32_t>(listing.instructions.size());
    };
    std::vector<bool> isKept(functions.size());
    std::vector<std::size_t> waiting{static_cast<std::size_t>(kernel - functions.begin())};
    isKept[waiting.front()] = true;
    while (!waiting.empty()) {
        const auto caller = waiting.back();
        waiting.pop_back();
        for (std::size_t callee = 0; callee < functions.size(); ++callee) {
            if (isKept[callee] || functions[callee].symbol.empty())
                continue;
            for (auto i = functions[caller].first; i < endOf(caller) && !isKept[callee]; ++i) {
                if (!names(listing.instructions[i].text, functions[callee].symbol))
                    continue;
                isKept[callee] = true;
                waiting.push_back(callee);
            }
        }
    }

    std::vector<std::size_t> order{static_cast<std::size_t>(kernel - functions.begin())};
    for (std::size_t function = 0; function < functions.size(); ++function) {
        if (isKept[function] && function != order.front())
            order.push_back(function);
    }

    Listing kept{listing.language, std::move(listing.files), {}, {}, {}};
    for (const auto function : order) {
        const auto first = functions[function].first;
        const auto end = endOf(function);
        const auto moved = static_cast<std::uint32_t>(kept.instructions.size());
        for (const auto& label : listing.labels) {
            if (label.before >= first && label.before < end)
                kept.labels.push_back({label.name, label.before - first + moved});
        }
        for (auto i = first; i < end; ++i) {
            kept.instructions.push_back(std::move(listing.instructions[i]));
            kept.instructions.back().function = static_cast<std::uint32_t>(kept.functions.size());
        }
        kept.functions.push_back({functions[function].symbol, moved});
    }
    return kept;
}

} // namespace kernelskill::engine
