#include "engine/execution/emulator/unit/emulation_unit.h"

#include "engine/execution/emulator/unit/entry.h"
#include "engine/execution/emulator/unit/rewrites.h"

#include <algorithm>

namespace kernelskill::engine {
namespace {

SliceRequest sliceRequest(const analysis::KernelModel& kernel, const LaunchSpec& launch,
                          const UnitBreadth& breadth) {
    SliceRequest request;
    request.kernelFile = std::filesystem::path(kernel.file).lexically_normal().string();
    request.kernelOffset = kernel.nameSpan.begin;
    request.kernelName = kernel.name;
    request.forced = breadth.forced;
    request.width = breadth.width;
    for (const auto& argument : launch.templateArguments) {
        for (const auto& token : tokenize(argument)) {
            if (token.isIdentifier())
                request.seeds.emplace(token.text);
        }
    }
    return request;
}

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

/// `using namespace thrust;` needs the namespace to be there even when its header is left out.
std::string namespaceForwards(const ScannedProgram& program) {
    std::set<std::string> own;
    for (const auto& file : program.files()) {
        for (const auto& declaration : file.scan.declarations) {
            if (declaration.kind == DeclarationKind::NamespaceAlias)
                own.insert(declaration.names.begin(), declaration.names.end());
            own.insert(declaration.scope.substr(0, declaration.scope.find("::")));
        }
    }
    std::set<std::string> forwards;
    for (const auto& file : program.files()) {
        for (const auto& declaration : file.scan.declarations) {
            if (declaration.kind != DeclarationKind::UsingNamespace || declaration.names.empty())
                continue;
            std::string text;
            std::string closing;
            std::string first;
            for (const auto& token : tokenize(declaration.names.front())) {
                if (!token.isIdentifier())
                    continue;
                if (first.empty())
                    first = token.text;
                text += "namespace " + std::string(token.text) + " { ";
                closing += "} ";
            }
            if (first == "std")
                forwards.insert("namespace std { }"); // its inner ones may be inline
            else if (!first.empty() && !own.contains(first))
                forwards.insert(text + closing);
        }
    }
    std::string result;
    for (const auto& forward : forwards)
        result += forward + "\n";
    return result;
}

/// So that an edit of host code, which is blanked, leaves the unit as it was and its image in the
/// cache.
std::string withoutTrailingBlanks(const std::string& text) {
    std::string result;
    std::size_t pending = 0; // of the characters at the end of `result`, how many are blank
    for (const char c : text) {
        if (c == '\n') {
            result.resize(result.size() - pending);
            pending = 0;
        }
        result += c;
        pending = c == ' ' || c == '\t' || c == '\r' ? pending + 1 : 0;
    }
    const auto end = result.find_last_not_of(" \t\r\n");
    result.resize(end == std::string::npos ? 0 : end + 1);
    return result + "\n";
}

void blankNestedStandardNamespaces(std::string& text, const FileSlice& slice) {
    for (const auto* declaration : slice.kept) {
        if (declaration->kind == DeclarationKind::UsingNamespace && !declaration->names.empty() &&
            declaration->names.front().starts_with("std::"))
            blank(text, declaration->span);
    }
}

} // namespace

EmulationUnit makeEmulationUnit(const ScannedProgram& program, const ProgramSource& source,
                                const analysis::KernelModel& kernel, const LaunchSpec& launch,
                                const std::filesystem::path& preludeInclude,
                                const UnitBreadth& breadth) {
    const auto slices = sliceProgram(program, sliceRequest(kernel, launch, breadth));
    const IncludeRules rules(preludeInclude, source.command.systemIncludeDirs, breadth.includes,
                             namesStandardLibrary(program, slices));
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
        text = rewriteForHost(std::move(text), file.source.path.string(), program.macros(), macros);
        unit.files.push_back({file.source.path, withoutTrailingBlanks(text)});
    }
    unit.prefix = "#pragma once\n" + namespaceForwards(program) + macros.definitions();
    unit.entry = entryText(program, slices, kernel, launch, breadth);
    return unit;
}

} // namespace kernelskill::engine
