#include "lsp-server/report/html/report_page.h"
#include "lsp-server/report/model_measurement_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace kernelskill::lsp {
namespace {

using engine::ModelMeasurement;
using engine::graph::MixVerdict;
using engine::graph::PlaceMeasurement;
using ::testing::AllOf;
using ::testing::EndsWith;
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
                      {"own kernels: coarse tiles",
                       {70, 0.01, ""},
                       "large-magnitude inputs, seed 4: output 0 at [1]: 2 instead of 1"},
                      {"own kernels: fast tiles", {120, 0.02, ""}},
                      {"a library", {98, 0.03, ""}}};
    place.chosen = 4;
    place.isMeasured = true;
    all.places.push_back(place);
    place.nodes = {"linear"};
    place.chosen = 3;
    place.isRemembered = true;
    all.places.push_back(place);
    PlaceMeasurement late;
    late.nodes = {"linear_1"};
    late.variants = {{"own kernels", {}}, {"a library", {}}};
    late.chosen = 1;
    late.why = "the time was up";
    all.places.push_back(late);
    all.accuracy = {
        {MixVerdict::Outcome::Right, 1.24e-3, "normal inputs, seed 1", ""}, true, false};
    return all;
}

TEST(ModelMeasurementText, NamesWhatWasChosenAndTheNextBest) {
    const std::string text = modelMeasurementText(measurement());
    EXPECT_THAT(text, AllOf(HasSubstr("measured on NVIDIA H200 in 12.3 s\n"),
                            HasSubstr("  conv2d: 98 "), HasSubstr(" by a library; 120 "),
                            HasSubstr(" by own kernels: fast tiles\n    not exact enough: 70 "),
                            HasSubstr("coarse tiles: large-magnitude inputs, seed 4: output 0")));
    EXPECT_THAT(text, HasSubstr("by own kernels: fast tiles; 98 "));
    EXPECT_THAT(text, HasSubstr("by a library (remembered)\n"));
    EXPECT_THAT(text, HasSubstr("  linear_1: not measured, the time was up; by a library"));
    ModelMeasurement none;
    none.why = "no GPU was found";
    EXPECT_EQ(modelMeasurementText(none),
              "not measured, so all products are left to libraries: no GPU was found\n"
              "not compared with LibTorch on a GPU: whether the results are right at 1e-2 is not "
              "known");
}

TEST(ModelMeasurementText, SaysHowExactTheModelIs) {
    ModelMeasurement all = measurement();
    EXPECT_THAT(modelMeasurementText(all),
                EndsWith("six distributions of inputs, the whole model: right at 1e-2, largest "
                         "error 1.2e-03"));
    all.accuracy->isOfWhole = false;
    all.accuracy->isRemembered = true;
    all.accuracy->verdict = {MixVerdict::Outcome::Wrong, 0.5, "normal inputs: 2 instead of 1", ""};
    EXPECT_THAT(modelMeasurementText(all),
                EndsWith("its places, in the program that LibTorch runs (remembered): wrong at "
                         "1e-2, and nothing that was measured is right: normal inputs: 2 instead "
                         "of 1"));
    all.accuracy->verdict = {MixVerdict::Outcome::NotCompared, 0, "", "the time was up"};
    EXPECT_THAT(modelMeasurementText(all),
                EndsWith("(the time was up): whether the results are right at 1e-2 is not known, "
                         "so no product that was measured is in TF32"));
}

TEST(ModelMeasurementText, NamesTheTolerance) {
    ModelMeasurement all = measurement();
    all.tolerance = engine::graph::Tolerance::Tight;
    EXPECT_THAT(modelMeasurementText(all), HasSubstr("right at 1e-4, largest error"));
    EXPECT_EQ(modelMeasurementJson(all).at("accuracy").at("tolerance"), "1e-4");
    all.accuracy->verdict = {MixVerdict::Outcome::NotCompared, 0, "", "the time was up"};
    EXPECT_THAT(modelMeasurementText(all),
                EndsWith("right at 1e-4 is not known, so all products are in float32"));
    all.accuracy.reset();
    EXPECT_THAT(modelMeasurementText(all), HasSubstr("right at 1e-4 is not known"));
    EXPECT_EQ(modelMeasurementJson(all).at("accuracy").at("tolerance"), "1e-4");
}

TEST(ModelMeasurementText, IsInTheJsonAndTheReport) {
    const nlohmann::json json = modelMeasurementJson(measurement());
    EXPECT_EQ(json.at("places").at(0).at("chosen"), "a library");
    EXPECT_EQ(json.at("places").at(0).at("variants").at(0).at("microseconds"), 150);
    EXPECT_TRUE(json.at("places").at(0).at("variants").at(1).at("microseconds").is_null());
    EXPECT_THAT(json.at("places").at(0).at("variants").at(2).at("refused").get<std::string>(),
                HasSubstr("2 instead of 1"));
    EXPECT_EQ(json.at("accuracy").at("outcome"), "right");
    EXPECT_EQ(json.at("accuracy").at("of"), "the whole model");
    EXPECT_EQ(modelMeasurementJson({}).at("accuracy").at("outcome"), "not compared");
    EXPECT_EQ(json.at("places").at(2).at("why"), "the time was up");
    EXPECT_FALSE(json.contains("whole"));
    Report report;
    report.sections.push_back(modelMeasurementSection(measurement()));
    EXPECT_THAT(writeReport(report),
                AllOf(HasSubstr("Own kernels or a library"), HasSubstr("fast tiles"),
                      HasSubstr("nvcc: error"), HasSubstr("not exact enough"),
                      HasSubstr("right at 1e-2"), HasSubstr("measured by an earlier run")));
}

} // namespace
} // namespace kernelskill::lsp
