#include "lsp-server/report/json_report.h"

#include "analysis/source/json.h"
#include "engine/memory/memory_entry.h"
#include "lsp-server/report/evidence_text.h"
#include "lsp-server/report/gpu_text.h"
#include "lsp-server/report/hazard_text.h"
#include "lsp-server/report/metric_text.h"
#include "skills/skill_document.h"

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

json dimensions(const engine::Dim3& dimensions) {
    return json::array({dimensions.x, dimensions.y, dimensions.z});
}

json launchJson(const engine::LaunchSpec& launch) {
    json arguments = json::array();
    for (const engine::ArgumentSpec& argument : launch.arguments) {
        json& entry = arguments.emplace_back(json::object());
        if (const auto* scalar = std::get_if<engine::ScalarSpec>(&argument)) {
            entry["name"] = scalar->name;
            if (scalar->integer)
                entry["value"] = *scalar->integer;
            else if (scalar->floating)
                entry["value"] = *scalar->floating;
        } else {
            const auto& buffer = std::get<engine::BufferSpec>(argument);
            entry["name"] = buffer.name;
            if (buffer.elements)
                entry["elements"] = *buffer.elements;
        }
    }
    return {{"grid", dimensions(launch.grid)},           {"block", dimensions(launch.block)},
            {"shared_bytes", launch.dynamicSharedBytes}, {"origin", spelling(launch.origin)},
            {"arguments", std::move(arguments)},         {"notes", launch.notes}};
}

std::string_view spelling(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::InvalidInput:
        return "invalid-input";
    case ErrorKind::Missing:
        return "missing";
    case ErrorKind::Unsupported:
        return "unsupported";
    case ErrorKind::Failed:
        return "failed";
    case ErrorKind::Cancelled:
        return "cancelled";
    case ErrorKind::Internal:
        break;
    }
    return "internal";
}

json gainJson(const engine::Gain& gain) {
    return {{"at_most", gain.factor.high}, {"basis", gain.basis}, {"text", describeGain(gain)}};
}

} // namespace

json bottleneckJson(const engine::Bottleneck& bottleneck) {
    json evidence = json::array();
    for (const engine::Evidence& item : bottleneck.evidence) {
        json& entry = evidence.emplace_back(json{{"text", item.text}});
        if (!item.file.empty())
            entry["file"] = item.file;
        if (item.line)
            entry["line"] = *item.line;
        if (!item.hint.empty())
            entry["hint"] = item.hint;
    }
    json others = json::array();
    for (const engine::BottleneckKind kind : bottleneck.others)
        others.push_back(spelling(kind));
    return {{"kind", spelling(bottleneck.kind)},
            {"headroom", bottleneck.headroom},
            {"headroom_text", describeHeadroom(bottleneck)},
            {"gain", bottleneck.gain ? gainJson(*bottleneck.gain) : json(nullptr)},
            {"evidence", std::move(evidence)},
            {"rule", bottleneck.rule},
            {"others", std::move(others)},
            {"shapes", bottleneck.shapes}};
}

json remedyJson(const engine::Remedy& remedy) {
    json entry{{"method", remedy.method}, {"text", remedy.text}, {"why", remedy.why}};
    if (remedy.isSkill)
        entry["skill"] = remedy.method;
    return entry;
}

json hazardJson(const engine::Hazard& hazard) {
    json entry{{"kind", spelling(hazard.kind)},
               {"file", hazard.file},
               {"line", hazard.line},
               {"message", hazard.message},
               {"certain", hazard.certain},
               {"block", dimensions(hazard.block)},
               {"thread", dimensions(hazard.thread)}};
    if (hazard.otherFile.empty() && !hazard.details.other)
        return entry;
    json& other = entry["other"] = json::object();
    if (!hazard.otherFile.empty()) {
        other["file"] = hazard.otherFile;
        other["line"] = hazard.otherLine;
    }
    if (hazard.details.other) {
        other["block"] = dimensions(hazard.details.other->block);
        other["thread"] = dimensions(hazard.details.other->thread);
    }
    return entry;
}

json profileJson(const engine::KernelReport& report) {
    const engine::Profile& profile = *report.profile;
    json lines = json::array();
    for (const engine::LineMetrics& line : profile.lines)
        lines.push_back({{"file", line.file}, {"line", line.line}, {"metrics", line.metrics}});
    json hazards = json::array();
    for (const engine::Hazard& hazard : profile.hazards) {
        hazards.push_back(hazardJson(hazard));
        hazards.back()["may_be_the_guess"] = mayBeTheGuess(hazard, profile.launch);
    }
    return {{"kernel", profile.kernel},
            {"executor", profile.executor},
            {"launch", launchJson(profile.launch)},
            {"metrics", reportMetrics(report)},
            {"lines", std::move(lines)},
            {"hazards", std::move(hazards)},
            {"bottleneck", bottleneckJson(*report.bottleneck)},
            {"static", factsJson(report)},
            {"roofline", rooflineJson(report)},
            {"measured", measuredJson(report)},
            {"blocks_run", profile.blocksRun},
            {"notes", profile.notes}};
}

json verdictJson(const engine::Verdict& verdict) {
    json checks = json::array();
    for (const engine::Check& check : verdict.checks)
        checks.push_back(
            {{"name", check.name}, {"passed", check.passed}, {"detail", check.detail}});
    return {{"status", spelling(verdict.status)},
            {"checks", std::move(checks)},
            {"speedup", verdict.speedup ? json(*verdict.speedup) : json(nullptr)},
            {"summary", verdict.summary},
            {"confidence", spelling(verdict.confidence)},
            {"before", verdict.before},
            {"after", verdict.after}};
}

json editsJson(const analysis::EditSet& edits, const std::string& mainFile, TextLookup& texts,
               PositionEncoding encoding) {
    json result = json::array();
    for (const auto& [file, fileEdits] : edits) {
        const analysis::SourceText& text = texts(file);
        for (const analysis::TextEdit& edit : fileEdits) {
            json& entry = result.emplace_back(
                json{{"range", toRange(text, edit.span, encoding)}, {"newText", edit.newText}});
            if (file != mainFile)
                entry["file"] = file;
        }
    }
    return result;
}

json skillJson(const skills::SkillMetadata& skill) {
    return {{"id", skill.id},
            {"title", skill.title},
            {"kind", skills::spelling(skill.kind)},
            {"role", skills::spelling(skill.role)},
            {"numerics", skills::spelling(skill.numerics)},
            {"bottlenecks", skill.bottlenecks},
            {"description", skill.description},
            {"origin", skills::spelling(skill.origin)}};
}

json memoryJson(const std::vector<engine::MemoryEntry>& entries) {
    json result = json::array();
    for (const engine::MemoryEntry& entry : entries)
        result.emplace_back(engine::entryJson(entry));
    return result;
}

json failureJson(const engine::CompileFailure& failure, TextLookup& texts,
                 PositionEncoding encoding) {
    return {{"cause", failure.cause},
            {"explanation", failure.explanation},
            {"message", failure.diagnostic.message},
            {"range", toRange(texts(failure.diagnostic.file), failure.diagnostic.span, encoding)}};
}

std::string_view statusOf(const engine::Repair& repair) {
    if (repair.errorsBefore == 0)
        return "clean";
    if (repair.errorsAfter == 0)
        return "repaired";
    return repair.errorsAfter < repair.errorsBefore ? "improved" : "not-repaired";
}

json repairJson(const engine::Repair& repair, const std::string& mainFile, TextLookup& texts,
                PositionEncoding encoding) {
    json fixes = json::array();
    for (const engine::CompileFix& fix : repair.applied) {
        json& entry = fixes.emplace_back(failureJson(fix.failure, texts, encoding));
        entry["fix"] = fix.title;
    }
    return {{"status", statusOf(repair)},
            {"diagnosis",
             {{"errors_before", repair.errorsBefore},
              {"errors_after", repair.errorsAfter},
              {"fixes", std::move(fixes)}}},
            {"edits", editsJson(repair.edits, mainFile, texts, encoding)}};
}

std::string_view statusOf(const engine::HazardRepair& repair) {
    if (repair.hazardsBefore == 0)
        return "clean";
    if (repair.left.empty())
        return "repaired";
    return repair.applied.empty() ? "not-repaired" : "improved";
}

json repairJson(const engine::HazardRepair& repair, const std::string& mainFile, TextLookup& texts,
                PositionEncoding encoding) {
    json fixes = json::array();
    for (const auto& [hazard, title] : repair.applied) {
        json& entry = fixes.emplace_back(hazardJson(hazard));
        entry["cause"] = spelling(hazard.kind);
        entry["fix"] = title;
    }
    json left = json::array();
    for (const engine::Hazard& hazard : repair.left)
        left.push_back(hazardJson(hazard));
    return {{"status", statusOf(repair)},
            {"diagnosis",
             {{"errors_before", 0},
              {"errors_after", 0},
              {"hazards_before", repair.hazardsBefore},
              {"hazards_after", repair.left.size()},
              {"fixes", std::move(fixes)},
              {"hazards", std::move(left)},
              {"not_run", repair.notRun}}},
            {"edits", editsJson(repair.edits, mainFile, texts, encoding)}};
}

json errorJson(const Error& error) {
    return {{"error",
             {{"kind", spelling(error.kind)},
              {"what", error.what},
              {"where", error.where},
              {"remedy", error.remedy}}}};
}

} // namespace kernelskill::lsp
