#include "lsp-server/report/verification_json.h"

#include "analysis/source/json.h"
#include "engine/memory/memory_entry.h"
#include "lsp-server/report/json_report.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <utility>
#include <vector>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

/// The parts of a kernel that differ: each word of the JSON, and the words for people.
std::vector<std::pair<const char*, const char*>> partsOf(const engine::KernelChange& change) {
    std::vector<std::pair<const char*, const char*>> parts;
    if (change.isTextChanged)
        parts.emplace_back("text", "its text");
    if (change.isUsedCodeChanged)
        parts.emplace_back("used-code", "code that it uses");
    if (change.isSignatureChanged)
        parts.emplace_back("signature", "its parameters");
    if (change.isLaunchChanged)
        parts.emplace_back("launch", "its launch");
    return parts;
}

json lineOf(const engine::ProgramSource& program, const std::string& kernel) {
    const auto* found = analysis::kernelNamed(*program.model, kernel);
    if (found == nullptr || found->file != program.model->file)
        return nullptr;
    return program.model->source->lineColumn(found->nameSpan.begin).line;
}

json programJson(const engine::ProgramTrial& trial) {
    json differences = json::array();
    for (const engine::MemoryDifference& each : trial.differences)
        differences.push_back(
            {{"where", each.where},
             {"bytes", each.bytes},
             {"firstOffset", each.firstOffset},
             {"differingBytes", each.differingBytes},
             {"strayBytes", each.strayBytes},
             {"element", spelling(each.element)},
             {"isOfHost", each.isOfHost},
             {"maxRelative",
              std::isfinite(each.maxRelative) ? json(each.maxRelative) : json(nullptr)}});
    json timing = nullptr;
    if (trial.timing)
        timing = {{"speedup", trial.timing->speedup},
                  {"least", trial.timing->least},
                  {"most", trial.timing->most},
                  {"rounds", trial.timing->candidate.rounds},
                  {"before_us", trial.timing->original.median},
                  {"after_us", trial.timing->candidate.median}};
    return {{"program", trial.program},           {"launch", trial.launch},
            {"outcome", spelling(trial.outcome)}, {"sentence", trial.sentence},
            {"allocations", trial.allocations},   {"allocatedBytes", trial.allocatedBytes},
            {"savedBytes", trial.savedBytes},     {"differences", std::move(differences)},
            {"timing", std::move(timing)},        {"notes", trial.notes}};
}

json kernelJson(const engine::JudgedKernel& kernel, const engine::ProgramSource& after) {
    json differs = json::array();
    for (const auto& [name, words] : partsOf(kernel.change))
        differs.push_back(name);
    json hazards = json::array();
    for (const engine::Hazard& hazard : kernel.hazards)
        hazards.push_back(hazardJson(hazard));
    return {{"name", kernel.change.name},
            {"line", lineOf(after, kernel.change.name)},
            {"change", spelling(kernel.change.kind)},
            {"oldName", kernel.change.oldName.empty() ? kernel.change.name : kernel.change.oldName},
            {"differs", std::move(differs)},
            {"outcome", spelling(kernel.outcome)},
            {"verdict", kernel.verdict ? verdictJson(*kernel.verdict) : json(nullptr)},
            {"diagnosis",
             kernel.diagnosis ? json(engine::diagnosisJson(*kernel.diagnosis)) : json(nullptr)},
            {"note", kernel.note},
            {"hazards", std::move(hazards)},
            {"inProgram", kernel.inProgram ? programJson(*kernel.inProgram) : json(nullptr)},
            {"seconds", kernel.seconds}};
}

} // namespace

json verificationJson(const engine::Verification& verification, const engine::ProgramSource& after,
                      const std::string& against, const std::string& commit) {
    json kernels = json::array();
    for (const engine::JudgedKernel& kernel : verification.kernels)
        kernels.push_back(kernelJson(kernel, after));
    json host = nullptr;
    if (verification.host)
        host = {{"outcome", spelling(verification.host->outcome)},
                {"detail", verification.host->detail}};
    return {{"file", after.file},
            {"against", against},
            {"commit", commit.empty() ? json(nullptr) : json(commit)},
            {"outcome", spelling(verification.outcome())},
            {"summary", engine::summaryOf(verification)},
            {"kernels", std::move(kernels)},
            {"unchanged", verification.unchanged},
            {"host", std::move(host)},
            {"diff", verification.diff},
            {"seconds", verification.seconds}};
}

std::string differencesOf(const engine::KernelChange& change) {
    std::string text;
    if (!change.oldName.empty())
        text = "renamed from " + change.oldName;
    else if (change.kind != engine::KernelChangeKind::Changed)
        text = spelling(change.kind);
    for (const auto& [name, words] : partsOf(change))
        text += (text.empty() ? "" : ", ") + std::string(words) + " changed";
    return text;
}

std::string describe(const engine::JudgedKernel& kernel) {
    std::string text = fmt::format("{} is {}", kernel.change.name, wordFor(kernel.outcome));
    if (kernel.verdict && kernel.outcome == engine::ChangeOutcome::Right)
        text += fmt::format(" ({})", spelling(kernel.verdict->confidence));
    if (kernel.verdict)
        text += ". " + kernel.verdict->summary;
    if (!kernel.note.empty())
        text += fmt::format("{} {}", kernel.verdict ? "" : ":", kernel.note);
    if (kernel.diagnosis) {
        text += fmt::format("{} Cause: {}.", text.ends_with('.') ? "" : ".",
                            kernel.diagnosis->sentence);
        if (!kernel.diagnosis->repair.empty())
            text += fmt::format(" What may help: {}.", kernel.diagnosis->repair);
    }
    return text;
}

std::string verificationNotice(const engine::Verification& verification,
                               const std::string& against) {
    if (verification.kernels.empty() && !verification.host)
        return fmt::format("No kernel differs from {}.", against);
    std::string text =
        fmt::format("Verified against {} in {:.1f} s:", against, verification.seconds);
    for (const engine::JudgedKernel& kernel : verification.kernels) {
        const std::string sentence = describe(kernel);
        text += fmt::format(" {}{}", sentence, sentence.ends_with('.') ? "" : ".");
    }
    if (verification.host)
        text += fmt::format(" Code around the kernels is {}: {}.",
                            wordFor(verification.host->outcome), verification.host->detail);
    return text;
}

std::string_view wordFor(engine::ChangeOutcome outcome) {
    switch (outcome) {
    case engine::ChangeOutcome::Right:
        return "right";
    case engine::ChangeOutcome::NotJudged:
        return "not judged";
    case engine::ChangeOutcome::Wrong:
        return "wrong";
    }
    return "not judged";
}

} // namespace kernelskill::lsp
