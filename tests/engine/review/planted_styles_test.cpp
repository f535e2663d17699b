/// Edits that the values, sizes and positions of runs alone did not show as wrong.
#include "tests/engine/review/planted_edit.h"

namespace kernelskill::engine {
namespace {

using kernelskill::testing::numberOf;
using kernelskill::testing::PlantedEdit;
using kernelskill::testing::PlantedEdits;
using kernelskill::testing::plantedIn;

class PlantedStyles : public PlantedEdits {};

TEST_P(PlantedStyles, IsRefused) {
    expectRefused(verdict());
}

const std::vector<PlantedEdit> wrong{
    plantedIn("images.txt", "saturate", "position by float"),
    plantedIn("rows.txt", "softmaxrow", "maximum at least zero"),
    plantedIn("rows.txt", "softmaxrow", "row offset in int"),
    plantedIn("own_arrays.txt", "topk", "written through a pointer"),
    plantedIn("buckets.txt", "hashes", "32-bit counter"),
    plantedIn("matrices.txt", "transposeH", "32-bit plane"),
    plantedIn("matrices.txt", "transposeH", "32-bit index of the output"),
    plantedIn("images.txt", "stencil", "edge of the block for edge of the grid"),
    plantedIn("images.txt", "stencil", "ny for nx"),
    plantedIn("elements.txt", "activations", "sigmoid overflow"),
    plantedIn("buckets.txt", "particles", "no upper cell"),
};

INSTANTIATE_TEST_SUITE_P(Edits, PlantedStyles, ::testing::ValuesIn(sampleOf(wrong, 5)), numberOf);

class RightStyles : public PlantedEdits {};

TEST_P(RightStyles, IsAccepted) {
    const Verdict right = verdict();
    EXPECT_TRUE(isAccepted(right)) << report(right);
}

const std::vector<PlantedEdit> right{
    plantedIn("images.txt", "saturate", "pixel by a pointer to its row"),
    plantedIn("rows.txt", "softmaxrow", "minus infinity"),
    plantedIn("own_arrays.txt", "topk", "the point once"),
    plantedIn("buckets.txt", "hashes", "funnel shift"),
    plantedIn("matrices.txt", "transposeH", "plane in the pointer"),
    plantedIn("images.txt", "stencil", "index multiplied out"),
    plantedIn("elements.txt", "activations", "the value first"),
    plantedIn("buckets.txt", "particles", "the pointer"),
};

INSTANTIATE_TEST_SUITE_P(Edits, RightStyles, ::testing::ValuesIn(sampleOf(right, 4)), numberOf);

} // namespace
} // namespace kernelskill::engine
