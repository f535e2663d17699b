#include "lsp-server/server/remedies.h"

#include "analysis/source/json.h"

#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

json buttonJson(const RemedyButton& button) {
    json result{{"title", button.title}};
    switch (button.does) {
    case RemedyButton::Does::RunCommand:
        result["command"] = button.name;
        result["arguments"] =
            button.argument ? json::array({*button.argument}) : json(json::array());
        break;
    case RemedyButton::Does::OpenSetting:
        result["setting"] = button.name;
        break;
    case RemedyButton::Does::ManageTrust:
        result["client"] = "trust";
        break;
    case RemedyButton::Does::CheckMachine:
        result["client"] = "doctor";
        break;
    }
    return result;
}

} // namespace

ResponseError withRemedies(ResponseError error, const std::vector<RemedyButton>& remedies) {
    json list = json::array();
    for (const RemedyButton& button : remedies)
        list.push_back(buttonJson(button));
    error.data = std::make_shared<const json>(json{{"remedies", std::move(list)}});
    return error;
}

ResponseError toResponseErrorWithRemedy(const Error& error) {
    ResponseError response = toResponseError(error);
    if (error.kind != ErrorKind::Missing)
        return response;
    return withRemedies(std::move(response),
                        {{"Check This Machine", RemedyButton::Does::CheckMachine}});
}

ResponseError executionIsOff(const std::string& consequence) {
    return withRemedies(
        {ErrorCode::RequestFailed,
         "running kernels is turned off (kernelskill.execution.enabled)" + consequence},
        {{"Open Settings", RemedyButton::Does::OpenSetting, "kernelskill.execution.enabled"}});
}

} // namespace kernelskill::lsp
