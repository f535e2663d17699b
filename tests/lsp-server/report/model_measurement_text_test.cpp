#include "lsp-server/report/html/report_page.h"
#include "lsp-server/report/model_measurement_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace kernelskill::lsp {
namespace {

using engine::ModelMeasurement;
using engine::graph::PlaceMeasurement;
using ::testing::AllOf;
using ::testing::HasSubstr;

ModelMeasurement measurement() {
    ModelMeasurement all;
    all.gpu = "NVIDIA H200";
    all.seconds = 12.34;
    PlaceMeasurement place;
    place.nodes = {"conv2d"};
    place.operation = "aten.conv2d.default of float32[16, 64, 56, 56]";
    place.variants = {{"own kernels: slow tiles", {150, 0.01, ""}},
                      {"own kernels: broken tiles", {std::nullopt, 0, "nvcc: error"}},
                      {"own kernels: fast tiles", {120, 0.02, ""}},
                      {"a library", {98, 0.03, ""}}};
    place.chosen = 3;
    place.isMeasured = true;
    all.places.push_back(place);
    place.nodes = {"linear"};
    place.chosen = 2;
    place.isRemembered = true;
    all.places.push_back(place);
    PlaceMeasurement late;
    late.nodes = {"linear_1"};
    late.variants = {{"own kernels", {}}, {"a library", {}}};
    late.chosen = 1;
    late.why = "the time was up";
    all.places.push_back(late);
    return all;
}

TEST(ModelMeasurementText, NamesWhatWasChosenAndTheNextBest) {
    const std::string text = modelMeasurementText(measurement());
    EXPECT_THAT(text, AllOf(HasSubstr("measured on NVIDIA H200 in 12.3 s\n"),
                            HasSubstr("  conv2d: 98 "), HasSubstr(" by a library; 120 "),
                            HasSubstr(" by own kernels: fast tiles\n")));
    EXPECT_THAT(text, HasSubstr("by own kernels: fast tiles; 98 "));
    EXPECT_THAT(text, HasSubstr("by a library (remembered)\n"));
    EXPECT_THAT(text, HasSubstr("  linear_1: not measured, the time was up; by a library"));
    ModelMeasurement none;
    none.why = "no GPU was found";
    EXPECT_EQ(modelMeasurementText(none),
              "not measured, so all products are left to libraries: no GPU was found");
}

TEST(ModelMeasurementText, IsInTheJsonAndTheReport) {
    const nlohmann::json json = modelMeasurementJson(measurement());
    EXPECT_EQ(json.at("places").at(0).at("chosen"), "a library");
    EXPECT_EQ(json.at("places").at(0).at("variants").at(0).at("microseconds"), 150);
    EXPECT_TRUE(json.at("places").at(0).at("variants").at(1).at("microseconds").is_null());
    EXPECT_EQ(json.at("places").at(2).at("why"), "the time was up");
    EXPECT_FALSE(json.contains("whole"));
    Report report;
    report.sections.push_back(modelMeasurementSection(measurement()));
    EXPECT_THAT(writeReport(report),
                AllOf(HasSubstr("Own kernels or a library"), HasSubstr("fast tiles"),
                      HasSubstr("nvcc: error"), HasSubstr("measured by an earlier run")));
}

} // namespace
} // namespace kernelskill::lsp
