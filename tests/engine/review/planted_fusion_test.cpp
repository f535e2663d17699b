/// Right and wrong edits that put one kernel in the place of two.
#include "tests/engine/review/planted_edit.h"

#include <gmock/gmock.h>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::numberOf;
using kernelskill::testing::PlantedEdit;
using kernelskill::testing::PlantedEdits;
using ::testing::HasSubstr;

const std::string kernels = R"(
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = 2.0f * x[i];
}
__global__ void smooth(const float* y, float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    z[i] = y[i] + 0.25f;
}
)";

const std::string host = R"(
void use(float*);
void run(const float* x, float* y, float* z, int n) {
    for (int t = 0; t < 3; t++) {
        twice<<<(n + 127) / 128, 128>>>(x, y, n);
        smooth<<<(n + 127) / 128, 128>>>(y, z, n);
    }
}
int main() {
    float *x, *y, *z;
    int n = 5000;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&z, n * sizeof(float));
    run(x, y, z, n);
}
)";

/// Adds a fused kernel with `body`, and launches it with `launch` in the place of both.
PlantedEdit
fused(const char* name, const std::string& body,
      const std::string& launch = "twiceSmooth<<<(n + 127) / 128, 128>>>(x, y, z, n);") {
    const std::string kernel =
        "__global__ void twiceSmooth(const float* x, float* y, float* z, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
        body + "}\n";
    std::string after = host;
    const auto begin = after.find("twice<<<");
    const std::string last = "(y, z, n);";
    const auto end = after.find(last) + last.size();
    after.replace(begin, end - begin, launch);
    return {name, kernels + host, kernels + host, kernels + kernel + after};
}

const std::string right = "    if (i >= n) return;\n    y[i] = 2.0f * x[i];\n"
                          "    z[i] = y[i] + 0.25f;\n";

/// A fused kernel in which each part has a size of its own, launched with one value for both.
PlantedEdit withTwoSizes() {
    PlantedEdit edit = fused("two sizes",
                             "    if (i < n)\n        y[i] = 2.0f * x[i];\n"
                             "    if (i < n2)\n        z[i] = y[i] + 0.25f;\n",
                             "twiceSmooth<<<(n + 127) / 128, 128>>>(x, y, z, n, n);");
    const std::string one = "float* z, int n) {";
    edit.to.replace(edit.to.find(one, edit.to.find("void twiceSmooth")), one.size(),
                    "float* z, int n, int n2) {");
    return edit;
}

class RightFusions : public PlantedEdits {};

TEST_P(RightFusions, AreAccepted) {
    const Verdict seen = verdict();
    EXPECT_TRUE(isAccepted(seen)) << report(seen);
    EXPECT_THAT(report(seen), HasSubstr("twiceSmooth does what twice and smooth did"));
}

INSTANTIATE_TEST_SUITE_P(
    Edits, RightFusions,
    ::testing::Values(fused("plain", right), withTwoSizes(),
                      fused("by registers",
                            "    if (i < n) {\n        float v = 2.0f * x[i];\n"
                            "        y[i] = v;\n        z[i] = v + 0.25f;\n    }\n")),
    numberOf);

class WrongFusions : public PlantedEdits {};

TEST_P(WrongFusions, AreRefused) {
    expectRefused(verdict());
}

INSTANTIATE_TEST_SUITE_P(
    Edits, WrongFusions,
    ::testing::Values(
        fused("a store is left out", "    if (i >= n) return;\n    z[i] = 2.0f * x[i] + 0.25f;\n"),
        fused("the other order", "    if (i >= n) return;\n    z[i] = y[i] + 0.25f;\n"
                                 "    y[i] = 2.0f * x[i];\n"),
        fused("another guard", "    if (i >= n - 1) return;\n    y[i] = 2.0f * x[i];\n"
                               "    z[i] = y[i] + 0.25f;\n"),
        fused("another element", "    if (i >= n) return;\n    y[i] = 2.0f * x[i];\n"
                                 "    z[i] = y[i > 0 ? i - 1 : 0] + 0.25f;\n"),
        fused("another grid", right, "twiceSmooth<<<(n + 127) / 128, 64>>>(x, y, z, n);"),
        fused("another value", right, "twiceSmooth<<<(n + 127) / 128, 128>>>(x, y, z, n - 1);"),
        fused("launched twice", right,
              "twiceSmooth<<<(n + 127) / 128, 128>>>(x, y, z, n);\n"
              "        twiceSmooth<<<(n + 127) / 128, 128>>>(x, y, z, n);"),
        fused("one launch left",
              "    if (i >= n) return;\n    y[i] = 2.0f * x[i];\n    z[i] = y[i] + 0.25f;\n",
              "twiceSmooth<<<(n + 127) / 128, 128>>>(x, y, z, n);\n"
              "        smooth<<<(n + 127) / 128, 128>>>(y, z, n);")),
    numberOf);

class Stencils : public PlantedEdits {};

/// The second kernel reads what the neighbours of its thread wrote: only races show what is wrong,
/// where threads run in their order.
TEST_P(Stencils, AreRefused) {
    expectRefused(verdict());
}

PlantedEdit neighbours(const char* name, const std::string& index) {
    PlantedEdit edit =
        fused(name, "    if (i >= n) return;\n    y[i] = 2.0f * x[i];\n    z[i] = y[" + index +
                        "] + 0.25f;\n");
    const std::string own = "z[i] = y[i] + 0.25f;";
    const std::string other = "z[i] = y[" + index + "] + 0.25f;";
    edit.text.replace(edit.text.find(own), own.size(), other);
    edit.from = edit.text;
    edit.to.replace(edit.to.find(own), own.size(), other);
    return edit;
}

INSTANTIATE_TEST_SUITE_P(Edits, Stencils,
                         ::testing::Values(neighbours("before", "i > 0 ? i - 1 : 0"),
                                           neighbours("behind", "i < n - 1 ? i + 1 : i"),
                                           neighbours("of another block",
                                                      "i >= 128 ? i - 128 : i")),
                         numberOf);

} // namespace
} // namespace kernelskill::engine
