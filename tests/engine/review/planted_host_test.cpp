/// Edits of the host code around a kernel that pass it other data.
#include "tests/engine/review/planted_edit.h"

namespace kernelskill::engine {
namespace {

using kernelskill::testing::numberOf;
using kernelskill::testing::PlantedEdit;
using kernelskill::testing::PlantedEdits;
using kernelskill::testing::plantedIn;

/// Two functions that launch.
const std::string twohosts = R"(
__global__ void fill(float* to, float value, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) to[i] = value; }
__global__ void addTo(const float* from, float* to, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) to[i] += from[i]; }
void begin(float* a, float* b, int n)
{
    fill<<<(n + 127) / 128, 128>>>(a, 1.0f, n);
    fill<<<(n + 127) / 128, 128>>>(b, 2.0f, n);
}
void step(float* a, float* b, int n) { addTo<<<(n + 127) / 128, 128>>>(a, b, n); }
int main() { float *a, *b; cudaMalloc(&a, 40000); cudaMalloc(&b, 40000); begin(a, b, 10000); step(a, b, 10000); }
)";

/// A class that launches on its own members.
const std::string owner = R"(
__global__ void rescale(const float* in, float* out, float by, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i] * by; }
class Image {
public:
    Image(int rows, int columns) : rows_(rows), columns_(columns) { cudaMalloc(&in_, 48000); cudaMalloc(&out_, 48000); }
    void scale() {
        const int n = rows_ * columns_;
        rescale<<<(n + 255) / 256, 256>>>(in_, out_, 3.0f, n);
    }
private:
    float* in_ = nullptr; float* out_ = nullptr;
    int rows_, columns_;
};
int main() { Image image(60, 200); image.scale(); }
)";

class PlantedHost : public PlantedEdits {};

TEST_P(PlantedHost, IsRefused) {
    expectRefused(verdict());
}

const std::vector<PlantedEdit> wrong{
    plantedIn("images.txt", "saturate", "constant of 2 entries"),
    plantedIn("synchronization.txt", "twostep", "on the other stream"),
    plantedIn("synchronization.txt", "twostep", "another argument"),
    plantedIn("synchronization.txt", "twostep", "bytes copied"),
    plantedIn("synchronization.txt", "twostep", "memset for half"),
    plantedIn("scans.txt", "scanblock", "carries of the sums"),
    {"another member", owner, "(in_, out_, 3.0f, n)", "(out_, out_, 3.0f, n)"},
    {"another function waits, this one passes another pointer", twohosts,
     "(b, 2.0f, n);\n}\nvoid step(float* a, float* b, int n) { addTo<<<(n + 127) / 128, 128>>>(a, "
     "b, n); }",
     "(b, 2.0f, n);\n    cudaDeviceSynchronize();\n}\n"
     "void step(float* a, float* b, int n) { addTo<<<(n + 127) / 128, 128>>>(b, b, n); }"},
};

INSTANTIATE_TEST_SUITE_P(Edits, PlantedHost, ::testing::ValuesIn(sampleOf(wrong, 3)), numberOf);

class RightHost : public PlantedEdits {};

TEST_P(RightHost, IsAccepted) {
    const Verdict right = verdict();
    EXPECT_TRUE(isAccepted(right)) << report(right);
}

const std::vector<PlantedEdit> right{
    plantedIn("images.txt", "saturate", "clamp by functions"),
    plantedIn("synchronization.txt", "twostep", "limits first"),
    plantedIn("synchronization.txt", "twostep", "blocks of 256"),
    plantedIn("scans.txt", "scanblock", "distance by shift"),
    {"members in another order", owner, "rows_ * columns_", "columns_ * rows_"},
    {"waits", twohosts, "(b, 2.0f, n);\n}", "(b, 2.0f, n);\n    cudaDeviceSynchronize();\n}"},
};

INSTANTIATE_TEST_SUITE_P(Edits, RightHost, ::testing::ValuesIn(sampleOf(right, 2)), numberOf);

} // namespace
} // namespace kernelskill::engine
