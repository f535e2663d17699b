#include "engine/unit/unit_parts.h"

#include <algorithm>
#include <filesystem>

namespace kernelskill::engine {

using analysis::DeclarationKind;

SliceRequest kernelSlice(const analysis::KernelModel& kernel,
                         const std::vector<std::string>& templateArguments, SliceWidth width,
                         const std::set<std::string>& forced) {
    SliceRequest request;
    request.kernelFile = std::filesystem::path(kernel.file).lexically_normal().string();
    request.kernelOffset = kernel.nameSpan.begin;
    request.kernelName = kernel.name;
    request.forced = forced;
    request.width = width;
    for (const auto& argument : templateArguments) {
        for (const auto& token : analysis::lex(argument)) {
            if (token.isIdentifier())
                request.seeds.emplace(token.text);
        }
    }
    return request;
}

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
            for (const auto& token : analysis::lex(declaration.names.front())) {
                if (!token.isIdentifier())
                    continue;
                if (first.empty())
                    first = token.text;
                text += "namespace " + std::string(token.text) + " { ";
                closing += "} ";
            }
            if (first == "std")
                forwards.insert("namespace std { }"); // Its inner namespaces may be inline.
            else if (!first.empty() && !own.contains(first))
                forwards.insert(text + closing);
        }
    }
    std::string result;
    for (const auto& forward : forwards)
        result += forward + "\n";
    return result;
}

std::string withoutTrailingBlanks(const std::string& text) {
    std::string result;
    std::size_t pending = 0; // Number of blanks at the end of `result`.
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

} // namespace kernelskill::engine
