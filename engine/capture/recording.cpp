#include "engine/capture/recording.h"

#include "analysis/source/json.h"

namespace kernelskill::engine {

using Json = nlohmann::json;

std::string formatRecording(const Recording& recording) {
    return Json{
        {"folder", recording.folder},         {"program", recording.program},
        {"cupti", recording.cupti},           {"kernels", recording.kernels},
        {"launches", recording.launches},     {"bufferBytes", recording.bufferBytes},
        {"totalBytes", recording.totalBytes}, {"waitMilliseconds", recording.waitMilliseconds}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Recording> parseRecording(std::string_view text) {
    try {
        const Json json = Json::parse(text);
        Recording recording;
        json.at("folder").get_to(recording.folder);
        json.at("program").get_to(recording.program);
        json.at("cupti").get_to(recording.cupti);
        json.at("kernels").get_to(recording.kernels);
        json.at("launches").get_to(recording.launches);
        json.at("bufferBytes").get_to(recording.bufferBytes);
        json.at("totalBytes").get_to(recording.totalBytes);
        json.at("waitMilliseconds").get_to(recording.waitMilliseconds);
        return recording;
    } catch (const Json::exception& problem) {
        return std::unexpected(Error{ErrorKind::InvalidInput, problem.what(), recordingVariable,
                                     "start the program by `kernelskill capture`"});
    }
}

} // namespace kernelskill::engine
