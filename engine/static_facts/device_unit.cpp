#include "engine/static_facts/device_unit.h"

#include "engine/execution/emulator/unit/unit_parts.h"

#include <algorithm>
#include <ranges>

namespace kernelskill::engine {
namespace {

std::string quoted(const std::filesystem::path& path) {
    std::string result = "\"";
    for (const char c : path.string()) {
        if (c == '"' || c == '\\')
            result += '\\';
        result += c;
    }
    return result + "\"";
}

/// The file without what the slice leaves out, its includes of user files by absolute path: under
/// that the headers are handed over, whatever folder they are reached from.
std::string deviceText(const ScannedProgram::File& file, const FileSlice& slice,
                       const DeviceIncludeRules& rules) {
    auto text = blankedText(file, slice);
    blankNestedStandardNamespaces(text, slice);
    for (const auto& line : file.source.includes | std::views::reverse) {
        if (!rules.keeps(line))
            blank(text, line.span);
        else if (!line.resolved.empty())
            text.replace(line.span.begin, line.span.size(),
                         "#include \"" + line.resolved.string() + "\"");
    }
    return withoutTrailingBlanks(text);
}

std::string nameExpression(const analysis::KernelModel& kernel,
                           const std::vector<std::string>& templateArguments) {
    // A member of an unnamed namespace is named as if it stood outside.
    static constexpr std::string_view unnamed = "(anonymous namespace)::";
    auto name = kernel.qualifiedName;
    for (auto at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed))
        name.erase(at, unnamed.size());
    if (kernel.templateParameters.empty())
        return name;
    name += "<";
    for (std::size_t i = 0; i < templateArguments.size(); ++i)
        name += (i == 0 ? "" : ", ") + templateArguments[i];
    return name + ">";
}

std::filesystem::path absolute(const std::filesystem::path& path, const ProgramSource& source) {
    std::error_code ignored;
    const auto base = source.command.directory.empty() ? std::filesystem::current_path(ignored)
                                                       : source.command.directory;
    return (path.is_absolute() ? path : base / path).lexically_normal();
}

} // namespace

DeviceUnit makeDeviceUnit(const ScannedProgram& program, const ProgramSource& source,
                          const analysis::KernelModel& kernel,
                          const std::vector<std::string>& templateArguments,
                          const std::vector<std::filesystem::path>& folders,
                          const DeviceUnitBreadth& breadth) {
    const auto slices = sliceProgram(
        program, kernelSlice(kernel, templateArguments, breadth.width, breadth.forced));
    const DeviceIncludeRules rules(folders, breadth.includes);
    DeviceUnit unit;
    unit.nameExpression = nameExpression(kernel, templateArguments);
    unit.source = "#include \"" + std::string(baseHeaderName) + "\"\n" + namespaceForwards(program);
    for (const auto& forced : source.command.forcedIncludes) {
        const auto path = absolute(forced, source);
        if (std::ranges::any_of(program.files(),
                                [&](const auto& file) { return file.source.path == path; }))
            unit.source += "#include " + quoted(path) + "\n";
    }
    for (std::size_t f = 0; f < slices.size(); ++f) {
        const auto& file = program.files()[f];
        auto text = deviceText(file, slices[f], rules);
        if (f == 0)
            unit.source += "#line 1 " + quoted(file.source.path) + "\n" + text;
        else
            unit.headers.push_back({file.source.path.string(), std::move(text)});
    }
    return unit;
}

} // namespace kernelskill::engine
