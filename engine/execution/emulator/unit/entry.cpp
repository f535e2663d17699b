#include "engine/execution/emulator/unit/entry.h"

#include "analysis/scan/conditional_text.h"
#include "engine/execution/emulator/unit/emulation_unit.h"

#include <algorithm>

namespace kernelskill::engine {

using analysis::Declaration;
using analysis::DeclarationKind;
using analysis::Token;

namespace {

/// "a::b" for "a::b::kernel", without anonymous namespaces in any spelling.
std::string scopeOf(const analysis::KernelModel& kernel) {
    std::string result;
    const auto tokens = analysis::lex(kernel.qualifiedName);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].is("("))
            i = std::min(matchingBracket(tokens, i), tokens.size() - 1);
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

/// An expression of the type pointer to function that names the kernel.
std::string kernelPointer(const ScannedProgram& program, const analysis::KernelModel& kernel,
                          const LaunchSpec& launch, bool isTyped) {
    const auto scope = scopeOf(kernel);
    std::string name = scope.empty() ? "&" : "&::";
    name.append(scope).append("::").append(kernel.name);
    if (!launch.templateArguments.empty())
        return name.append("<").append(joined(launch.templateArguments)).append(">");
    if (!kernel.templateParameters.empty() || !(isTyped || isOverloaded(program, kernel)))
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

bool holdsWord(const std::vector<Token>& tokens, analysis::Span span,
               std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(tokens, [&](const Token& token) {
        return span.contains(token.span.begin) &&
               std::ranges::find(words, token.text) != words.end();
    });
}

/// Visits of the data members of `struct Name { … };` or `typedef struct { … } Name;` at namespace
/// scope, each inside of the conditionals around the member; empty for a class whose members may
/// not all be named from outside.
std::string fieldVisits(const ScannedProgram& program, const Declaration& declaration,
                        const std::vector<Token>& tokens) {
    const bool isClass = declaration.kind == DeclarationKind::Type ||
                         (declaration.kind == DeclarationKind::Alias &&
                          holdsWord(tokens, declaration.span, {"typedef"}));
    if (!isClass || declaration.isTemplate || !declaration.owner.empty() ||
        declaration.names.empty() || !holdsWord(tokens, declaration.span, {"struct"}) ||
        holdsWord(tokens, declaration.span, {"private", "protected", "union", "class"}))
        return {};
    auto open = std::ranges::find_if(tokens, [&](const Token& token) {
        return declaration.span.contains(token.span.begin) && token.is("{");
    });
    if (open == tokens.end())
        return {};
    const auto first = static_cast<std::size_t>(open - tokens.begin());
    const auto close = std::min(matchingBracket(tokens, first), tokens.size());
    const std::vector<Token> body(open + 1, tokens.begin() + static_cast<std::ptrdiff_t>(close));
    std::vector<Token> conditionals;
    std::ranges::copy_if(body, std::back_inserter(conditionals), analysis::isConditional);
    auto conditional = conditionals.begin();
    std::string visits;
    const auto writeConditionals = [&](std::uint32_t upTo) {
        for (; conditional != conditionals.end() && conditional->span.begin < upTo; ++conditional)
            visits += "\n" + std::string(conditional->text) + "\n";
    };
    bool hasFields = false;
    for (const auto& member :
         scanDeclarations(structuralTokens(body), program.macros()).declarations) {
        if (member.kind != DeclarationKind::Variable ||
            holdsWord(tokens, member.span, {"static", ":", "&"}))
            continue;
        writeConditionals(member.span.begin);
        if (conditional != conditionals.end() && member.span.contains(conditional->span.begin))
            return {}; // A conditional inside of a declaration decides which names it has.
        for (const auto& field : member.names)
            visits += "ksVisitor.template ksField<decltype(ksClass::" + field +
                      ")>(offsetof(ksClass, " + field + ")); ";
        hasFields |= !member.names.empty();
    }
    writeConditionals(declaration.span.end);
    return hasFields ? visits : std::string();
}

/// Specialisations of ks::Fields for the user's classes.
std::string fieldsOf(const ScannedProgram& program, const std::vector<FileSlice>& slices) {
    std::string result;
    for (std::size_t f = 0; f < slices.size(); ++f) {
        const auto& file = program.files()[f];
        for (const auto* declaration : slices[f].kept) {
            const auto visits = fieldVisits(program, *declaration, file.tokens);
            if (visits.empty())
                continue;
            const auto name = "::" + (declaration->scope.empty() ? "" : declaration->scope + "::") +
                              declaration->names.front();
            result += "namespace ks { template <> struct Fields<" + name +
                      "> { using ksClass = " + name +
                      "; static constexpr bool ksKnown = true; template <typename V> static "
                      "constexpr void ksVisit(const V& ksVisitor) { " +
                      visits + "} }; }\n";
        }
    }
    return result;
}

} // namespace

std::string entryText(const ScannedProgram& program, const std::vector<FileSlice>& slices,
                      const analysis::KernelModel& kernel, const LaunchSpec& launch,
                      const UnitBreadth& breadth) {
    std::string text = "#include \"" + std::string(mirrorMarker) +
                       program.files().front().source.path.string() + "\"\n";
    const auto scope = scopeOf(kernel);
    const auto globals = breadth.globalsTable ? globalsOf(slices) : std::string{};
    if (breadth.fieldTables)
        text += fieldsOf(program, slices);
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
    text +=
        "constexpr auto ksKernel = " + kernelPointer(program, kernel, launch, breadth.kernelType) +
        ";\n";
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
