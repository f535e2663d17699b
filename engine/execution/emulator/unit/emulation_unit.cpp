#include "engine/execution/emulator/unit/emulation_unit.h"

#include "engine/execution/emulator/unit/entry.h"
#include "engine/execution/emulator/unit/guarded_arrays.h"
#include "engine/execution/emulator/unit/local_accesses.h"
#include "engine/execution/emulator/unit/rewrites.h"
#include "engine/execution/emulator/unit/watched_conditions.h"
#include "engine/unit/unit_parts.h"

#include <algorithm>

namespace kernelskill::engine {

using analysis::DeclarationKind;

namespace {

bool namesStandardLibrary(const ScannedProgram& program, const std::vector<FileSlice>& slices) {
    for (std::size_t f = 0; f < slices.size(); ++f) {
        for (const auto& token : program.files()[f].tokens) {
            if (token.is("std") &&
                std::ranges::any_of(slices[f].kept, [&](const auto* declaration) {
                    return declaration->kind != DeclarationKind::UsingNamespace &&
                           declaration->span.contains(token.span.begin);
                }))
                return true;
        }
    }
    return false;
}

/// `text`, in which an #include by an absolute path names the copy of the user's file, not the
/// file.
std::string withCopiesIncluded(std::string text, const UserFile& file) {
    for (const IncludeLine& line : file.includes) {
        if (line.resolved.empty() || !line.spelling.substr(1).starts_with('/'))
            continue;
        const std::string directive = file.text.substr(line.span.begin, line.span.size());
        const auto at = text.find(directive);
        if (at != std::string::npos)
            text.replace(at, directive.size(),
                         "#include \"" +
                             line.resolved.lexically_relative(file.path.parent_path()).string() +
                             "\"");
    }
    return text;
}

} // namespace

EmulationUnit makeEmulationUnit(const ScannedProgram& program, KernelRef kernel,
                                const LaunchSpec& launch,
                                const std::filesystem::path& preludeInclude,
                                const UnitBreadth& breadth) {
    const auto slices = sliceProgram(program, kernelSlice(kernel.kernel, launch.templateArguments,
                                                          breadth.width, breadth.forced));
    const IncludeRules rules(preludeInclude, kernel.program.command.systemIncludeDirs,
                             breadth.includes, namesStandardLibrary(program, slices));
    EmulationUnit unit;
    RewriteMacros macros;
    for (std::size_t f = 0; f < slices.size(); ++f) {
        const auto& file = program.files()[f];
        auto text = blankedText(file, slices[f]);
        for (const auto& line : file.source.includes) {
            if (!rules.keeps(line))
                blank(text, line.span);
        }
        if (breadth.includes == IncludeBreadth::DeviceHeaders)
            blankNestedStandardNamespaces(text, slices[f]);
        if (!kernel.program.watched.empty()) {
            const bool isOwn =
                file.source.path == std::filesystem::path(kernel.program.file).lexically_normal();
            text = withWatched(std::move(text), isOwn ? "" : file.source.path.string(),
                               kernel.program.watched);
        }
        if (kernel.program.followsLocals)
            text = withGuardedArrays(std::move(text), pointedArrays(kernel, file));
        text = withCopiesIncluded(std::move(text), file.source);
        text = rewriteForHost(std::move(text), file.source.path.string(), program.macros(), macros);
        unit.files.push_back({file.source.path, withoutTrailingBlanks(text)});
    }
    unit.prefix = "#pragma once\n" + namespaceForwards(program) + macros.definitions();
    unit.entry = entryText(program, slices, kernel.kernel, launch, breadth);
    return unit;
}

} // namespace kernelskill::engine
