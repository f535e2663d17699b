/// Edits of kernels of 16-bit numbers, which are compared with a float64 form as those of float.
#include "tests/engine/review/planted_edit.h"

#include <gmock/gmock.h>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::numberOf;
using kernelskill::testing::PlantedEdit;
using kernelskill::testing::PlantedEdits;
using kernelskill::testing::plantedIn;

class PlantedHalves : public PlantedEdits {};

TEST_P(PlantedHalves, AreRefused) {
    expectRefused(verdict());
}

INSTANTIATE_TEST_SUITE_P(
    Edits, PlantedHalves,
    ::testing::Values(plantedIn("rows.txt", "halfnorm", "the weight in half first"),
                      plantedIn("halves.txt", "gelubf", "the form by tanh"),
                      plantedIn("halves.txt", "gelubf", "the error function in sixteen bits")),
    numberOf);

class RightHalves : public PlantedEdits {};

TEST_P(RightHalves, AreAccepted) {
    const Verdict right = verdict();
    EXPECT_TRUE(isAccepted(right)) << report(right);
    EXPECT_THAT(report(right), ::testing::HasSubstr("compared with a float64 reference"));
}

INSTANTIATE_TEST_SUITE_P(Edits, RightHalves,
                         ::testing::Values(plantedIn("rows.txt", "halfnorm", "fma in the sum"),
                                           plantedIn("halves.txt", "lnhalf", "squares by fma"),
                                           plantedIn("halves.txt", "gelubf", "the complement")),
                         numberOf);

} // namespace
} // namespace kernelskill::engine
