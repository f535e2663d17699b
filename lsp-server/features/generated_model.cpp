#include "lsp-server/features/generated_model.h"

#include "engine/graph/model/manifest.h"
#include "engine/graph/model/model_files.h"
#include "engine/graph/model/names.h"
#include "lsp-server/report/html/report_page.h"
#include "lsp-server/report/model_page.h"
#include "lsp-server/report/model_text.h"

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
    if (precision == "tf32")
        return graph::MultiplyUnit::TF32;
    return std::nullopt;
}

} // namespace

const std::vector<std::string>& modelPrecisions() {
    static const std::vector<std::string> names{"float32", "tf32x3", "tf32"};
    return names;
}

Result<engine::GeneratedModel> writeModel(const engine::Workbench& workbench, const ModelWish& wish,
                                          std::stop_token stop) {
    const auto unit = unitOf(wish.precision);
    if (!unit)
        return std::unexpected(Error{
            ErrorKind::InvalidInput, fmt::format("no precision has the name '{}'", wish.precision),
            "", fmt::format("known are {}", fmt::join(modelPrecisions(), ", "))});
    auto model = engine::generateModel(workbench,
                                       {.archive = wish.archive,
                                        .name = graph::identifier(wish.archive.stem().string()),
                                        .options = {.usesLibraries = wish.usesLibraries,
                                                    .kernels = {.multiply = *unit},
                                                    .notSimplified = wish.notSimplified},
                                        .wantsCheck = wish.wantsCheck},
                                       std::move(stop));
    if (!model)
        return model;
    if (model->check.outcome == graph::ModelCheck::Outcome::Differs)
        return std::unexpected(Error{
            ErrorKind::Failed,
            fmt::format("nothing was written, because the kernels do not compute what LibTorch "
                        "computes with {}: {}",
                        fmt::join(model->check.inputs, ", "), model->check.why),
            wish.archive.string(), "report it; --no-check writes them all the same"});
    graph::ModelFiles files = graph::modelFiles(model->plan);
    files["report.html"] =
        writeReport(modelReport(model->plan, model->check, wish.archive.filename().string(),
                                workbench.machines().estimatedGpu()));
    if (const auto written = graph::writeModel(files, wish.folder); !written)
        return std::unexpected(written.error());
    return model;
}

nlohmann::json modelJson(const engine::GeneratedModel& model) {
    nlohmann::json json = nlohmann::json::parse(graph::manifest(model.plan));
    json["check"] = checkJson(model.check);
    return json;
}

} // namespace kernelskill::lsp
