#include "lsp-server/features/generated_model.h"

#include "engine/graph/model/manifest.h"
#include "engine/graph/model/model_files.h"
#include "engine/graph/model/names.h"
#include "lsp-server/report/html/report_page.h"
#include "lsp-server/report/model_check_text.h"
#include "lsp-server/report/model_measurement_text.h"
#include "lsp-server/report/model_page.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <optional>
#include <utility>

namespace kernelskill::lsp {

namespace {

namespace graph = engine::graph;

std::optional<graph::MultiplyUnit> unitOf(const std::string& precision) {
    if (precision == "float32")
        return graph::MultiplyUnit::Float32;
    if (precision == "tf32x3")
        return graph::MultiplyUnit::TF32Split;
    if (precision == "bf16x3")
        return graph::MultiplyUnit::BFloat16Split;
    if (precision == "tf32")
        return graph::MultiplyUnit::TF32;
    return std::nullopt;
}

/// Returns the verdict on the model as it was chosen; null if there is none.
const graph::MixVerdict* accuracyOf(const engine::GeneratedModel& model) {
    return model.measurement && model.measurement->accuracy ? &model.measurement->accuracy->verdict
                                                            : nullptr;
}

} // namespace

const std::vector<std::string>& modelPrecisions() {
    static const std::vector<std::string> names{"float32", "tf32x3", "bf16x3", "tf32"};
    return names;
}

Result<engine::GeneratedModel> writeModel(const engine::Workbench& workbench,
                                          const ModelFolderRequest& request, std::stop_token stop) {
    const auto unit = unitOf(request.precision);
    if (!unit)
        return std::unexpected(
            Error{ErrorKind::InvalidInput,
                  fmt::format("no precision has the name '{}'", request.precision), "",
                  fmt::format("known are {}", fmt::join(modelPrecisions(), ", "))});
    const auto tolerance = graph::toleranceOf(request.tolerance);
    if (!tolerance)
        return std::unexpected(
            Error{ErrorKind::InvalidInput,
                  fmt::format("no tolerance has the name '{}'", request.tolerance), "",
                  fmt::format("known are {}", fmt::join(graph::toleranceNames, ", "))});
    if (*tolerance != graph::Tolerance::Loose && !request.usesLibraries)
        return std::unexpected(
            Error{ErrorKind::InvalidInput,
                  "a tolerance is for models whose kernels are chosen by measurement", "",
                  "allow libraries as well"});
    if (request.isChannelsLast && !request.usesLibraries)
        return std::unexpected(
            Error{ErrorKind::InvalidInput,
                  "channels-last order is for convolutions that are left to libraries", "",
                  "allow libraries as well"});
    auto model = engine::generateModel(workbench,
                                       {.archive = request.archive,
                                        .name = graph::identifier(request.archive.stem().string()),
                                        .options = {.usesLibraries = request.usesLibraries,
                                                    .kernels = {.multiply = *unit},
                                                    .notSimplified = request.notSimplified},
                                        .isChannelsLast = request.isChannelsLast,
                                        .tolerance = *tolerance,
                                        .measuringTime = request.measuringTime,
                                        .compilers = request.compilers,
                                        .progress = request.progress,
                                        .wantsCheck = request.wantsCheck},
                                       std::move(stop));
    if (!model)
        return model;
    if (const auto written = writeGenerated(*model, request, workbench.machines().estimatedGpu());
        !written)
        return std::unexpected(written.error());
    return model;
}

Result<void> writeGenerated(const engine::GeneratedModel& model, const ModelFolderRequest& request,
                            const engine::Gpu& gpu) {
    if (model.check.outcome == graph::ModelCheck::Outcome::Differs)
        return std::unexpected(Error{
            ErrorKind::Failed,
            fmt::format("nothing was written, because the kernels do not compute what LibTorch "
                        "computes with {}: {}",
                        checkedShapesText(model.check), model.check.why),
            request.archive.string(),
            "report it; `kernelskill generate --no-check` writes them all the same"});
    if (const graph::MixVerdict* verdict = accuracyOf(model);
        verdict != nullptr && verdict->outcome == graph::MixVerdict::Outcome::Wrong)
        return std::unexpected(
            Error{ErrorKind::Failed,
                  fmt::format("nothing was written, because no variant that was measured is right "
                              "at {}: {}",
                              graph::nameOf(model.measurement->tolerance), verdict->worst),
                  request.archive.string(),
                  "`kernelskill generate` without --libraries, or with --seconds=0, does not "
                  "compare models on a GPU"});
    graph::ModelFiles files = graph::modelFiles(model.plan);
    files["report.html"] =
        writeReport(modelReport(model, request.archive.filename().string(), gpu));
    if (model.measurement) {
        nlohmann::json manifest = nlohmann::json::parse(files.at("model.json"));
        manifest["measured"] = modelMeasurementJson(*model.measurement);
        files["model.json"] = manifest.dump(2) + "\n";
    }
    return graph::writeModel(files, request.folder);
}

nlohmann::json modelJson(const engine::GeneratedModel& model) {
    nlohmann::json json = nlohmann::json::parse(graph::manifest(model.plan));
    json["check"] = modelCheckJson(model.check);
    if (model.measurement)
        json["measured"] = modelMeasurementJson(*model.measurement);
    return json;
}

} // namespace kernelskill::lsp
