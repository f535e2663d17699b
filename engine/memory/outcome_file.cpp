#include "engine/memory/outcome_file.h"

#include "analysis/source/json.h"
#include "analysis/source/json_reading.h"
#include "engine/memory/memory_entry.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::engine {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* format = "kernelskill-outcomes";
constexpr int outcomeFormatVersion = 1;

Error unreadable(std::string what) {
    return Error{ErrorKind::InvalidInput, std::move(what), "",
                 "Give a file that `kernelskill memory export` wrote"};
}

bool hasText(const json& object, const char* key, bool mayBeEmpty) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() &&
           (mayBeEmpty || !found->get_ref<const std::string&>().empty());
}

/// nullopt if a field is missing or has the wrong type.
std::optional<Outcome> outcomeFrom(const json& object) {
    if (!object.is_object())
        return std::nullopt;
    for (const char* key :
         {"time", "skill", "bottleneck", "architecture", "kernelHash", "status"}) {
        if (!hasText(object, key, false))
            return std::nullopt;
    }
    const auto hash = parseHash(object.at("kernelHash").get<std::string>());
    const auto status = statusSpelled(object.at("status").get<std::string>());
    if (!hash || !status || !hasText(object, "failure", true) || !object.contains("speedup"))
        return std::nullopt;
    Outcome outcome;
    outcome.time = object.at("time");
    outcome.skill = object.at("skill");
    outcome.bottleneck = object.at("bottleneck");
    outcome.architecture = object.at("architecture");
    outcome.failure = object.at("failure");
    outcome.kernelHash = *hash;
    outcome.status = *status;
    const json& speedup = object.at("speedup");
    if (!speedup.is_null() && !speedup.is_number())
        return std::nullopt;
    if (speedup.is_number())
        outcome.speedup = speedup.get<double>();
    return outcome;
}

} // namespace

std::string formatOutcomes(const std::vector<Outcome>& outcomes) {
    std::string text = fmt::format("{{\"format\":\"{}\",\"version\":{},\"outcomes\":[", format,
                                   outcomeFormatVersion);
    const char* separator = "\n";
    for (const Outcome& outcome : outcomes) {
        ordered_json object;
        object["time"] = outcome.time;
        object["skill"] = outcome.skill;
        object["bottleneck"] = outcome.bottleneck;
        object["architecture"] = outcome.architecture;
        object["kernelHash"] = formatHash(outcome.kernelHash);
        object["status"] = spelling(outcome.status);
        object["speedup"] =
            outcome.speedup ? ordered_json(*outcome.speedup) : ordered_json(nullptr);
        object["failure"] = outcome.failure;
        text += separator + object.dump(-1, ' ', false, json::error_handler_t::replace);
        separator = ",\n";
    }
    return text + "\n]}\n";
}

Result<std::vector<Outcome>> parseOutcomes(std::string_view text) {
    const json document = analysis::parseJson(text);
    if (!document.is_object() || !hasText(document, "format", false) ||
        document.at("format") != format)
        return std::unexpected(unreadable("this is not a file of outcomes"));
    const auto version = document.find("version");
    if (version == document.end() || !version->is_number_integer() ||
        *version != outcomeFormatVersion)
        return std::unexpected(unreadable("the file is of another version of KernelSkill"));
    const auto list = document.find("outcomes");
    if (list == document.end() || !list->is_array())
        return std::unexpected(unreadable("the file holds no list of outcomes"));
    std::vector<Outcome> outcomes;
    for (const json& object : *list) {
        auto outcome = outcomeFrom(object);
        if (!outcome)
            return std::unexpected(unreadable(
                fmt::format("outcome {} of the file is not complete", outcomes.size() + 1)));
        outcomes.push_back(std::move(*outcome));
    }
    return outcomes;
}

} // namespace kernelskill::engine
