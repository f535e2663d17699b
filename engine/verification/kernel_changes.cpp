#include "engine/verification/kernel_changes.h"

#include "analysis/syntax/lexer.h"
#include "engine/review/program_comparison.h"
#include "engine/verification/kernel_renames.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

Result<void> parse(ProgramSource& program, const analysis::Toolchain& toolchain) {
    auto model = analysis::analyzeFile(program.file, program.text, program.command, toolchain,
                                       program.unsaved);
    if (!model)
        return std::unexpected(std::move(model.error()));
    program.model = std::make_shared<const analysis::FileModel>(std::move(*model));
    return {};
}

KernelChange changeOf(const analysis::FileModel& before, const analysis::KernelModel& old,
                      const analysis::FileModel& after, const analysis::KernelModel& kernel,
                      ProgramComparison& programs) {
    KernelChange change;
    change.name = kernel.qualifiedName;
    change.isTextChanged = definitionOf(before, old) != definitionOf(after, kernel);
    change.isUsedCodeChanged = !change.isTextChanged && programs.codeDiffers(kernel.name);
    change.isSignatureChanged = signatureOf(old) != signatureOf(kernel);
    change.isLaunchChanged = programs.launchesDiffer(old, kernel);
    return change;
}

} // namespace

std::string_view spelling(KernelChangeKind kind) {
    switch (kind) {
    case KernelChangeKind::Changed:
        return "changed";
    case KernelChangeKind::Renamed:
        return "renamed";
    case KernelChangeKind::Added:
        return "added";
    case KernelChangeKind::Removed:
        return "removed";
    }
    return "changed";
}

std::string definitionOf(const analysis::FileModel& model, const analysis::KernelModel& kernel) {
    if (kernel.file == model.file)
        return analysis::tokenText(model.source->text(), kernel.span);
    const auto other = model.otherSources.find(kernel.file);
    return other == model.otherSources.end()
               ? std::string()
               : analysis::tokenText(other->second->text(), kernel.span);
}

bool holdsDefinition(const std::string& tokens, const analysis::FileModel& model,
                     const analysis::KernelModel& kernel) {
    const std::string own = definitionOf(model, kernel);
    auto at = tokens.find(own);
    while (at != std::string::npos && at != 0 && tokens[at - 1] != ' ')
        at = tokens.find(own, at + 1);
    return at != std::string::npos;
}

std::string signatureOf(const analysis::KernelModel& kernel) {
    std::string signature;
    for (const analysis::Parameter& parameter : kernel.parameters)
        signature +=
            (signature.empty() ? "" : ", ") + parameter.type.spelling + " " + parameter.name;
    return signature;
}

Result<ProgramChange> compareVersions(ProgramSource before, const ProgramSource& after,
                                      const analysis::Toolchain& toolchain) {
    if (auto parsed = parse(before, toolchain); !parsed)
        return std::unexpected(parsed.error());
    ProgramChange change;
    std::map<std::string, std::string> oldNames;
    for (const KernelRename& rename : renamedKernels(*before.model, *after.model)) {
        oldNames.emplace(rename.after->qualifiedName, rename.before->qualifiedName);
        before.text = withIdentifier(before.text, rename.before->name, rename.after->name);
        for (auto& [file, text] : before.unsaved)
            text = withIdentifier(text, rename.before->name, rename.after->name);
    }
    if (!oldNames.empty()) {
        if (auto parsed = parse(before, toolchain); !parsed)
            return std::unexpected(parsed.error());
    }
    ProgramComparison programs(*before.model, *after.model);
    std::set<std::string> seen;
    for (const analysis::KernelModel& kernel : after.model->kernels) {
        if (!seen.insert(kernel.qualifiedName).second)
            continue;
        const auto* old = analysis::kernelNamed(*before.model, kernel.qualifiedName);
        if (old == nullptr) {
            change.kernels.push_back({KernelChangeKind::Added, kernel.qualifiedName, {}});
            continue;
        }
        KernelChange found = changeOf(*before.model, *old, *after.model, kernel, programs);
        if (const auto name = oldNames.find(kernel.qualifiedName); name != oldNames.end()) {
            found.kind = KernelChangeKind::Renamed;
            found.oldName = name->second;
        }
        if (found.kind == KernelChangeKind::Renamed || found.isToBeJudged())
            change.kernels.push_back(std::move(found));
        else
            change.unchanged.push_back(kernel.qualifiedName);
    }
    for (const analysis::KernelModel& kernel : before.model->kernels)
        if (seen.insert(kernel.qualifiedName).second)
            change.kernels.push_back({KernelChangeKind::Removed, kernel.qualifiedName, {}});
    change.before = std::move(before);
    return change;
}

} // namespace kernelskill::engine
