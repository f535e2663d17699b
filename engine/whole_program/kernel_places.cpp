#include "engine/whole_program/kernel_places.h"

#include "analysis/model/known_functions.h"
#include "analysis/scan/conditional_text.h"
#include "analysis/scan/declarations.h"
#include "analysis/source/files.h"
#include "analysis/source/source_text.h"
#include "engine/capture/kernel_symbol.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t maxSourceBytes = 4u << 20;
constexpr std::array<std::string_view, 14> sourceExtensions{".cu",  ".cuh", ".h",   ".hh",   ".hpp",
                                                            ".hxx", ".inl", ".inc", ".c",    ".cc",
                                                            ".cpp", ".cxx", ".tpp", ".cuinc"};

bool isSource(const fs::path& file) {
    return std::ranges::find(sourceExtensions, file.extension().string()) != sourceExtensions.end();
}

/// Counts the folders that two paths have in common, from the root on.
std::ptrdiff_t commonDepth(const fs::path& a, const fs::path& b) {
    return std::distance(a.begin(), std::ranges::mismatch(a, b).in1);
}

} // namespace

bool KernelDefinition::isNamed(std::string_view name) const {
    return name == qualifiedName || name == analysis::unqualified(qualifiedName);
}

KernelPlaces::KernelPlaces(const SourceTree& tree, const std::stop_token& stop) {
    for (const TreeFile& file : tree.files) {
        if (stop.stop_requested())
            return;
        if (!isSource(file.path))
            continue;
        auto text = analysis::readFile(tree.root / file.path, maxSourceBytes);
        if (!text || !text->contains("__global__"))
            continue;
        const auto tokens = analysis::lex(*text);
        analysis::MacroTable macros;
        macros.addDefinitionsOf(tokens);
        const auto scan = analysis::scanDeclarations(
            analysis::structuralTokens(analysis::withoutDisabled(tokens)), macros);
        const analysis::SourceText source(std::move(*text));
        for (const analysis::Declaration& each : scan.declarations) {
            if (!each.isKernel || each.names.empty() || each.bodySpan.empty())
                continue;
            const std::string& name = each.names.front();
            places_.emplace(name,
                            KernelDefinition{file.path, source.lineColumn(each.span.begin).line,
                                             each.scope.empty() ? name : each.scope + "::" + name});
        }
    }
}

std::optional<KernelDefinition> KernelPlaces::of(const std::string& symbol,
                                                 const fs::path& folder) const {
    const std::string qualified = kernelSymbol(symbol).qualifiedName;
    const std::string plain(analysis::unqualified(qualified));
    // A symbol that is not mangled tells no namespace.
    const bool isPlain = !symbol.starts_with("_Z");
    const KernelDefinition* best = nullptr;
    for (auto [at, end] = places_.equal_range(plain); at != end; ++at) {
        const KernelDefinition& place = at->second;
        if (!isPlain && place.qualifiedName != qualified)
            continue;
        if (best == nullptr || commonDepth(place.file, folder) > commonDepth(best->file, folder))
            best = &place;
    }
    return best == nullptr ? std::nullopt : std::optional(*best);
}

} // namespace kernelskill::engine
