/// Edits that leave an array of a thread's own by a pointer, or that leave it too little room.
#include "tests/engine/review/planted_edit.h"

namespace kernelskill::engine {
namespace {

using kernelskill::testing::numberOf;
using kernelskill::testing::PlantedEdit;
using kernelskill::testing::PlantedEdits;
using kernelskill::testing::plantedIn;

class PlantedOwnArrays : public PlantedEdits {};

TEST_P(PlantedOwnArrays, AreRefused) {
    expectRefused(verdict());
}

INSTANTIATE_TEST_SUITE_P(
    Edits, PlantedOwnArrays,
    ::testing::Values(plantedIn("own_arrays.txt", "localstack",
                                "a stack with a guard of its old size"),
                      plantedIn("own_arrays.txt", "window", "a look in front of the first"),
                      plantedIn("own_arrays.txt", "window", "one cell too far")),
    numberOf);

class RightOwnArrays : public PlantedEdits {};

TEST_P(RightOwnArrays, AreAccepted) {
    const Verdict right = verdict();
    EXPECT_TRUE(isAccepted(right)) << report(right);
}

INSTANTIATE_TEST_SUITE_P(
    Edits, RightOwnArrays,
    ::testing::Values(plantedIn("own_arrays.txt", "localstack", "a stack of 32"),
                      plantedIn("own_arrays.txt", "window", "seven from the start")),
    numberOf);

} // namespace
} // namespace kernelskill::engine
