#include "engine/launch_durations/launch_durations.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "engine/storage/json_lines.h"

#include <cmath>

namespace kernelskill::engine {
namespace {

using Json = nlohmann::json;

constexpr const char* kind = "kernelskill-launch-durations";
constexpr int version = 1;

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
    return jsonLinesHead(kind, version);
}

std::string durationLine(const std::string& symbol, double microseconds) {
    return jsonLine({{"symbol", symbol}, {"us", microseconds}});
}

std::string durationProblem(const std::string& problem) {
    return jsonLine({{"problem", problem}});
}

Result<LaunchDurations> parseDurations(std::string_view text, const std::filesystem::path& file) {
    LaunchDurations durations;
    const bool isRead = readJsonLines(text, kind, version, [&](const Json& line) {
        if (line.contains("problem")) {
            line.at("problem").get_to(durations.problem);
            return true;
        }
        const auto time = line.at("us").get<double>();
        durations.bySymbol[line.at("symbol").get<std::string>()].push_back(time);
        return std::isfinite(time) && time >= 0;
    });
    if (!isRead)
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
