#include "engine/execution/emulator/unit/entry.h"

#include "engine/execution/emulator/unit/emulation_unit.h"

#include <algorithm>

namespace kernelskill::engine {
namespace {

/// "a::b" of "a::b::kernel"; anonymous namespaces, however they are spelled, left out.
std::string scopeOf(const analysis::KernelModel& kernel) {
    std::string result;
    const auto tokens = tokenize(kernel.qualifiedName);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].is("("))
            i = std::min(matchingClose(tokens, i), tokens.size() - 1);
        else if (tokens[i].isIdentifier())
            names.emplace_back(tokens[i].text);
    }
    for (std::size_t i = 0; i + 1 < names.size(); ++i)
        result += (i == 0 ? "" : "::") + names[i];
    return result;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string result;
    for (const auto& part : parts)
        result += (result.empty() ? "" : ", ") + part;
    return result;
}

bool isOverloaded(const ScannedProgram& program, const analysis::KernelModel& kernel) {
    std::set<analysis::Span> parameters;
    for (const auto& file : program.files()) {
        for (const auto& declaration : file.scan.declarations) {
            if (declaration.isKernel && !declaration.bodySpan.empty() &&
                !declaration.names.empty() && declaration.names.front() == kernel.name)
                parameters.insert(declaration.span);
        }
    }
    return parameters.size() > 1;
}

/// An expression of type pointer to function that names the kernel.
std::string kernelPointer(const ScannedProgram& program, const analysis::KernelModel& kernel,
                          const LaunchSpec& launch) {
    const auto scope = scopeOf(kernel);
    std::string name = scope.empty() ? "&" : "&::";
    name.append(scope).append("::").append(kernel.name);
    if (!launch.templateArguments.empty())
        return name.append("<").append(joined(launch.templateArguments)).append(">");
    if (!kernel.templateParameters.empty() || !isOverloaded(program, kernel))
        return name;
    std::vector<std::string> types;
    for (const auto& parameter : kernel.parameters)
        types.push_back(parameter.type.spelling);
    return "static_cast<void (*)(" + joined(types) + ")>(" + name + ")";
}

std::string globalsOf(const std::vector<FileSlice>& slices) {
    std::string result;
    for (const auto& slice : slices) {
        for (const auto* declaration : slice.kept) {
            const bool listed = declaration->kind == DeclarationKind::Variable &&
                                declaration->isDeviceMemory && !declaration->isTemplate &&
                                !declaration->isConstexpr && !declaration->isExtern &&
                                declaration->owner.empty();
            if (!listed)
                continue;
            for (const auto& name : declaration->names) {
                const auto qualified =
                    (declaration->scope.empty() ? "" : "::" + declaration->scope) + "::" + name;
                result += "    ks::ksDescribeGlobal(\"" + name + "\", " + qualified + ", " +
                          (declaration->isConstantMemory ? "1" : "0") + ", " +
                          (declaration->isInitialised ? "1" : "0") + "),\n";
            }
        }
    }
    return result;
}

} // namespace

std::string entryText(const ScannedProgram& program, const std::vector<FileSlice>& slices,
                      const analysis::KernelModel& kernel, const LaunchSpec& launch,
                      bool globalsTable) {
    std::string text = "#include \"" + std::string(mirrorMarker) +
                       program.files().front().source.path.string() + "\"\n";
    const auto scope = scopeOf(kernel);
    const auto globals = globalsTable ? globalsOf(slices) : std::string{};
    text += "namespace ks_unit {\n";
    for (auto end = scope.find("::"); !scope.empty(); end = scope.find("::", end + 2)) {
        text += "using namespace ::" + scope.substr(0, end) + ";\n";
        if (end == std::string::npos)
            break;
    }
    text += "const char* const ksNames[] = {";
    for (const auto& parameter : kernel.parameters)
        text += "\"" + parameter.name + "\", ";
    text += "nullptr};\n";
    text += "constexpr auto ksKernel = " + kernelPointer(program, kernel, launch) + ";\n";
    text += "using KsKernel = ks::KsKernel<decltype(ks::ksPlainPointer(ksKernel))>;\n";
    text += "const auto ksParameters = KsKernel::ksDescribe(ksNames);\n";
    if (!globals.empty())
        text += "const KsGlobal ksGlobals[] = {\n" + globals + "};\n";
    text += "}\n";
    text += "extern \"C\" KS_UNSEEN_ENTRY void ks_entry(void** ksArguments) {\n"
            "    ks_unit::KsKernel::ksRun(ks_unit::ksKernel, ksArguments);\n}\n";
    text += "extern \"C\" KS_EXPORTED const KsImageTable ks_image = {\n"
            "    KS_IMAGE_VERSION, ks_unit::KsKernel::ksCount, ks_unit::ksParameters.ksEntries, ";
    text += globals.empty()
                ? "0, nullptr};\n"
                : "sizeof(ks_unit::ksGlobals) / sizeof(KsGlobal), ks_unit::ksGlobals};\n";
    return text;
}

} // namespace kernelskill::engine
