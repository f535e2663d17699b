#include "engine/replay/replay_target.h"

#include "analysis/source/json.h"

namespace kernelskill::engine {

using Json = nlohmann::json;

std::string formatReplayTarget(const ReplayTarget& target) {
    return Json{{"socket", target.socket},
                {"cupti", target.cupti},
                {"kernel", target.kernel},
                {"ordinal", target.ordinal},
                {"deviceBytes", target.deviceBytes},
                {"hostBytes", target.hostBytes},
                {"waitMilliseconds", target.waitMilliseconds},
                {"originalMilliseconds", target.originalMilliseconds}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ReplayTarget> parseReplayTarget(std::string_view text) {
    try {
        const Json json = Json::parse(text);
        ReplayTarget target;
        json.at("socket").get_to(target.socket);
        json.at("cupti").get_to(target.cupti);
        json.at("kernel").get_to(target.kernel);
        json.at("ordinal").get_to(target.ordinal);
        json.at("deviceBytes").get_to(target.deviceBytes);
        json.at("hostBytes").get_to(target.hostBytes);
        json.at("waitMilliseconds").get_to(target.waitMilliseconds);
        json.at("originalMilliseconds").get_to(target.originalMilliseconds);
        return target;
    } catch (const Json::exception& problem) {
        return std::unexpected(Error{ErrorKind::InvalidInput, problem.what(), replayVariable,
                                     "start the program by `kernelskill verify`"});
    }
}

} // namespace kernelskill::engine
