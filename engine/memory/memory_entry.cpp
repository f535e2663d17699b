#include "engine/memory/memory_entry.h"

#include "analysis/source/json.h"
#include "analysis/source/json_nesting.h"
#include "analysis/source/json_reading.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr int entryFormatVersion = 1;

constexpr std::array<std::pair<EntryKind, std::string_view>, 4> kindSpellings{{
    {EntryKind::Plan, "plan"},
    {EntryKind::Edit, "edit"},
    {EntryKind::Verdict, "verdict"},
    {EntryKind::Failure, "failure"},
}};

std::optional<EntryKind> kindSpelled(std::string_view text) {
    for (const auto& [kind, spelled] : kindSpellings) {
        if (spelled == text)
            return kind;
    }
    return std::nullopt;
}

std::string textOf(const nlohmann::json& object, const char* key) {
    auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::optional<CandidateDiagnosis> diagnosisIn(const nlohmann::json& object) {
    const auto found = object.find("diagnosis");
    if (found == object.end() || !found->is_object())
        return std::nullopt;
    CandidateDiagnosis diagnosis{textOf(*found, "cause"),
                                 textOf(*found, "text"),
                                 {},
                                 textOf(*found, "invariant"),
                                 textOf(*found, "repair")};
    if (const auto evidence = found->find("evidence");
        evidence != found->end() && evidence->is_array()) {
        for (const nlohmann::json& item : *evidence) {
            if (item.is_string())
                diagnosis.evidence.push_back(item.get<std::string>());
        }
    }
    return diagnosis;
}

Error notAnEntry(std::string what) {
    return Error{ErrorKind::InvalidInput, std::move(what), "", ""};
}

} // namespace

std::string_view spelling(EntryKind kind) {
    for (const auto& [candidate, spelled] : kindSpellings) {
        if (candidate == kind)
            return spelled;
    }
    return "plan";
}

std::string formatHash(std::uint64_t hash) {
    return fmt::format("{:016x}", hash);
}

std::optional<std::uint64_t> parseHash(std::string_view text) {
    std::uint64_t value = 0;
    auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (status != std::errc{} || stop != text.data() + text.size())
        return std::nullopt;
    return value;
}

nlohmann::ordered_json diagnosisJson(const CandidateDiagnosis& diagnosis) {
    return {{"cause", diagnosis.cause},
            {"text", diagnosis.sentence},
            {"evidence", diagnosis.evidence},
            {"invariant", diagnosis.invariant},
            {"repair", diagnosis.repair}};
}

nlohmann::ordered_json entryJson(const MemoryEntry& entry) {
    nlohmann::ordered_json object{
        {"kind", spelling(entry.kind)}, {"time", entry.time},
        {"kernel", entry.kernel},       {"kernelHash", formatHash(entry.kernelHash)},
        {"skill", entry.skill},         {"option", entry.option},
        {"editHash", entry.editHash},   {"status", entry.status},
        {"detail", entry.detail}};
    if (entry.resultHash != 0)
        object["resultHash"] = formatHash(entry.resultHash);
    if (!entry.architecture.empty())
        object["architecture"] = entry.architecture;
    if (entry.speedup)
        object["speedup"] = *entry.speedup;
    if (entry.isKept)
        object["kept"] = *entry.isKept;
    if (entry.diagnosis)
        object["diagnosis"] = diagnosisJson(*entry.diagnosis);
    return object;
}

std::string formatEntry(const MemoryEntry& entry) {
    nlohmann::ordered_json line{{"v", entryFormatVersion}};
    line.update(entryJson(entry));
    return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<MemoryEntry> parseEntry(std::string_view line) {
    if (analysis::isNestedTooDeeply(line))
        return std::unexpected(notAnEntry("nested too deeply"));
    auto object = nlohmann::json::parse(line, nullptr, false);
    if (object.is_discarded())
        return std::unexpected(notAnEntry("not a complete JSON object"));
    if (!object.is_object())
        return std::unexpected(notAnEntry("not a JSON object"));
    auto kind = kindSpelled(textOf(object, "kind"));
    if (!kind)
        return std::unexpected(notAnEntry("no known \"kind\""));
    auto hash = parseHash(textOf(object, "kernelHash"));
    if (!hash)
        return std::unexpected(notAnEntry("\"kernelHash\" is not hexadecimal"));
    MemoryEntry entry;
    entry.kind = *kind;
    entry.time = textOf(object, "time");
    entry.kernel = textOf(object, "kernel");
    entry.kernelHash = *hash;
    entry.skill = textOf(object, "skill");
    entry.option = analysis::integerIn<int>(object, "option").value_or(entry.option);
    entry.editHash = textOf(object, "editHash");
    entry.status = textOf(object, "status");
    entry.detail = textOf(object, "detail");
    entry.resultHash = parseHash(textOf(object, "resultHash")).value_or(0);
    entry.architecture = textOf(object, "architecture");
    if (auto speedup = object.find("speedup"); speedup != object.end() && speedup->is_number())
        entry.speedup = speedup->get<double>();
    if (auto kept = object.find("kept"); kept != object.end() && kept->is_boolean())
        entry.isKept = kept->get<bool>();
    entry.diagnosis = diagnosisIn(object);
    return entry;
}

} // namespace kernelskill::engine
