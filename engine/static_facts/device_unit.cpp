#include "engine/static_facts/device_unit.h"

#include "engine/unit/unit_parts.h"

#include <algorithm>
#include <ranges>

namespace kernelskill::engine {
namespace {

std::string inQuotes(const std::string& path) {
    std::string result = "\"";
    for (const char c : path) {
        if (c == '"' || c == '\\')
            result += '\\';
        result += c;
    }
    return result + "\"";
}

/// The file without what the slice leaves out. Includes of user files name the place of their
/// copies, whatever folder they are reached from. If `rules` is null, all other includes stay.
std::string deviceText(const ScannedProgram::File& file, const FileSlice& slice,
                       const DeviceIncludeRules* rules) {
    auto text = blankedText(file, slice);
    if (rules != nullptr)
        blankNestedStandardNamespaces(text, slice);
    for (const auto& line : file.source.includes | std::views::reverse) {
        const bool isUnneeded =
            std::ranges::find(slice.unneededIncludes, line.span) != slice.unneededIncludes.end();
        if (isUnneeded || (rules != nullptr && !rules->keeps(line)))
            blank(text, line.span);
        else if (!line.resolved.empty())
            text.replace(line.span.begin, line.span.size(),
                         "#include \"" + std::string(headerMirror) + line.resolved.string() + "\"");
    }
    return "#line 1 " + inQuotes(file.source.path.string()) + "\n" + withoutTrailingBlanks(text);
}

std::string nameExpression(const analysis::KernelModel& kernel,
                           const std::vector<std::string>& templateArguments) {
    // A member of an unnamed namespace is named without that namespace.
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

DeviceUnit makeDeviceUnit(const ScannedProgram& program, KernelRef kernel,
                          const std::vector<std::string>& templateArguments,
                          const std::vector<std::filesystem::path>& folders,
                          const DeviceUnitBreadth& breadth, DeviceCompiler compiler) {
    const auto slices = sliceProgram(
        program, kernelSlice(kernel.kernel, templateArguments, breadth.width, breadth.forced));
    const bool bare = compiler == DeviceCompiler::Nvrtc;
    const DeviceIncludeRules rules(folders, breadth.includes);
    DeviceUnit unit;
    unit.nameExpression = nameExpression(kernel.kernel, templateArguments);
    if (bare)
        unit.source =
            "#include \"" + std::string(baseHeaderName) + "\"\n" + namespaceForwards(program);
    for (const auto& forced : kernel.program.command.forcedIncludes) {
        const auto path = absolute(forced, kernel.program);
        if (std::ranges::any_of(program.files(),
                                [&](const auto& file) { return file.source.path == path; }))
            unit.source += "#include " + inQuotes(std::string(headerMirror) + path.string()) + "\n";
    }
    for (std::size_t f = 0; f < slices.size(); ++f) {
        const auto& file = program.files()[f];
        auto text = deviceText(file, slices[f], bare ? &rules : nullptr);
        if (f == 0)
            unit.source += text;
        else
            unit.headers.push_back(
                {std::string(headerMirror) + file.source.path.string(), std::move(text)});
    }
    if (!bare)
        unit.source +=
            "namespace { [[maybe_unused]] auto kernelskill_entry = &::" + unit.nameExpression +
            "; }\n";
    return unit;
}

} // namespace kernelskill::engine
