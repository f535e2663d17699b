#include "engine/launch_durations/launch_durations.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "analysis/source/json_nesting.h"

#include <cmath>

namespace kernelskill::engine {
namespace {

using Json = nlohmann::json;

constexpr const char* kind = "kernelskill-launch-durations";
constexpr int version = 1;

std::string asLine(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Error damaged(const std::filesystem::path& file) {
    return {ErrorKind::InvalidInput, "not a list of launch durations", file.string(), {}};
}

} // namespace

std::string formatDurationTarget(const DurationTarget& target) {
    return Json{{"file", target.file}, {"cupti", target.cupti}, {"launches", target.launches}}.dump(
        -1, ' ', false, Json::error_handler_t::replace);
}

Result<DurationTarget> parseDurationTarget(std::string_view text) {
    try {
        const Json json = Json::parse(text);
        DurationTarget target;
        json.at("file").get_to(target.file);
        json.at("cupti").get_to(target.cupti);
        json.at("launches").get_to(target.launches);
        return target;
    } catch (const Json::exception& problem) {
        return std::unexpected(Error{ErrorKind::InvalidInput, problem.what(), durationVariable,
                                     "start the program by `kernelskill profile`"});
    }
}

std::string durationHead() {
    return asLine({{"kind", kind}, {"version", version}});
}

std::string durationLine(const std::string& symbol, double microseconds) {
    return asLine({{"symbol", symbol}, {"us", microseconds}});
}

std::string durationProblem(const std::string& problem) {
    return asLine({{"problem", problem}});
}

Result<LaunchDurations> parseDurations(std::string_view text, const std::filesystem::path& file) {
    LaunchDurations durations;
    bool isHead = true;
    try {
        for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
            const std::string_view line = text.substr(0, end);
            text.remove_prefix(end + 1);
            if (analysis::isNestedTooDeeply(line))
                return std::unexpected(damaged(file));
            const Json json = Json::parse(line);
            if (isHead) {
                if (json.at("kind") != kind || json.at("version") != version)
                    return std::unexpected(damaged(file));
                isHead = false;
            } else if (json.contains("problem")) {
                json.at("problem").get_to(durations.problem);
            } else {
                const auto time = json.at("us").get<double>();
                if (!std::isfinite(time) || time < 0)
                    return std::unexpected(damaged(file));
                durations.bySymbol[json.at("symbol").get<std::string>()].push_back(time);
            }
        }
    } catch (const Json::exception&) {
        return std::unexpected(damaged(file));
    }
    if (isHead)
        return std::unexpected(damaged(file));
    return durations;
}

Result<LaunchDurations> readDurations(const std::filesystem::path& file) {
    const auto text = analysis::readFile(file);
    if (!text)
        return std::unexpected(
            Error{ErrorKind::Missing, "no launch was measured", file.string(), {}});
    return parseDurations(*text, file);
}

} // namespace kernelskill::engine
