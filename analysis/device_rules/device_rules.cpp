#include "analysis/device_rules/device_rules.h"

#include "analysis/device_rules/rules.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace kernelskill::analysis {
namespace {

std::optional<int> newestArchitecture(const CompileCommand& command) {
    constexpr std::size_t prefix = 3; // The length of "sm_".
    int newest = 0;
    for (const std::string& name : command.architectures)
        if (name.size() > prefix)
            newest =
                std::max(newest, static_cast<int>(std::strtol(name.c_str() + prefix, nullptr, 10)));
    return newest > 0 ? std::optional(newest) : std::nullopt;
}

/// Whether it is libclang's message about a name that a rule explains.
bool isExplained(const Diagnostic& diagnostic, const std::vector<Diagnostic>& findings) {
    return std::ranges::any_of(findings, [&](const Diagnostic& finding) {
        const bool isAboutAName =
            diagnostic.code == "undeclared-identifier" || diagnostic.code == "cuda-name-not-known";
        return isAboutAName && finding.span == diagnostic.span;
    });
}

} // namespace

Diagnostic DeviceRuleInput::found(Span span, Severity severity, std::string code,
                                  std::string message) const {
    Diagnostic diagnostic;
    diagnostic.file = model.file;
    diagnostic.span = span;
    diagnostic.severity = severity;
    diagnostic.origin = DiagnosticOrigin::Device;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    return diagnostic;
}

std::vector<Diagnostic> deviceFindings(const FileModel& model, const CompileCommand& command) {
    std::vector<Diagnostic> findings;
    if (!model.source)
        return findings;
    const std::string_view text = model.source->text();
    const DeviceRuleInput input{model,
                                command,
                                text,
                                lex(text),
                                newestArchitecture(command),
                                command.origin != CommandOrigin::Inferred};
    checkWarpFunctions(input, findings);
    const bool hasOther = std::ranges::any_of(model.diagnostics, [&](const Diagnostic& other) {
        return isCompileError(other) && !isExplained(other, findings);
    });
    if (hasOther)
        return findings;
    checkResources(input, findings);
    checkAtomics(input, findings);
    checkHostCode(input, findings);
    checkDeclarations(input, findings);
    return findings;
}

void addDeviceFindings(FileModel& model, const CompileCommand& command) {
    std::vector<Diagnostic> findings = deviceFindings(model, command);
    std::erase_if(model.diagnostics,
                  [&](const Diagnostic& diagnostic) { return isExplained(diagnostic, findings); });
    std::ranges::move(findings, std::back_inserter(model.diagnostics));
}

} // namespace kernelskill::analysis
