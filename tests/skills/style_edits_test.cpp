/// Edits of computations in styles that a skill once refused: the edited program must do what the
/// original does, to the last bit, on fresh inputs of several sizes, on the emulator.
#include "engine/review/reviewer.h"
#include "tests/paths.h"
#include "tests/skills/emulator_review.h"
#include "tests/skills/skill_check.h"
#include "tests/test_seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>

namespace kernelskill::engine {
namespace {

struct Styled {
    std::string kernel;
    std::string skill;
    std::string file; ///< In tests/nest/kernels; empty: `text` is all.
    std::string text; ///< A host function that launches the kernel, behind the file.
    friend std::ostream& operator<<(std::ostream& out, const Styled& styled) {
        return out << styled.kernel << ": " << styled.skill;
    }
};

class StyleEdits : public testing::TestWithParam<Styled> {};

TEST_P(StyleEdits, DoWhatTheOriginalDoes) {
    const Styled& styled = GetParam();
    const std::string path =
        "tests/nest/kernels/" + (styled.file.empty() ? "plane.cu" : styled.file);
    const skills::EmulatorReview emulated;
    ASSERT_TRUE(emulated.executor);
    const ProgramSource program = emulated.program(
        std::filesystem::path(paths::sourceFolder) / path,
        (styled.file.empty() ? std::string() : skills::readSource(path)) + styled.text);
    ASSERT_TRUE(program.model);
    const auto kernel =
        std::ranges::find(program.model->kernels, styled.kernel, &analysis::KernelModel::name);
    ASSERT_NE(kernel, program.model->kernels.end());
    const analysis::Features features = analysis::extractFeatures(*kernel);
    const skills::SkillContext context(*program.model, *kernel, features, kernel->span);
    const skills::Skill& skill = skills::skillNamed(styled.skill);
    const auto offer = skill.prepare(context);
    ASSERT_TRUE(offer) << offer.error().reason;
    const auto edits = skill.apply(context, *offer);
    ASSERT_TRUE(edits) << edits.error().describe();
    const auto verdict = emulated.reviewer().review(
        {program, *kernel}, *edits, skills::Numerics::Exact, {}, {}, {.seed = testSeed()});
    ASSERT_TRUE(verdict) << verdict.error().describe();
    EXPECT_TRUE(verdict->isAboutEdit) << skills::describe(*verdict);
    EXPECT_EQ(verdict->status, VerdictStatus::Unmeasured) << skills::describe(*verdict);
}

/// A kernel on planes of `type` with `body` and a launch that covers the plane.
std::string planeOf(const std::string& type, const std::string& body) {
    return "#include <cuda_fp16.h>\n__global__ void plane(const " + type + "* x, " + type +
           "* y, const int* m, int w, int h) {\n    const unsigned i = threadIdx.x + blockIdx.x * "
           "blockDim.x;\n    const unsigned j = threadIdx.y + blockIdx.y * blockDim.y;\n" +
           body + "}\nvoid run(const " + type + "* x, " + type +
           "* y, const int* m, int w, int h) {\n    dim3 block(32, 4);\n"
           "    dim3 grid((w + 31) / 32, (h + 3) / 4);\n"
           "    plane<<<grid, block>>>(x, y, m, w, h);\n}\n";
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, StyleEdits,
    testing::Values(
        Styled{"saxpy_early", "vectorized-access", "saxpy.cu",
               "void run(float a, const float* x, float* y, int n) {\n"
               "    saxpy_early<<<(n + 255) / 256, 256>>>(a, x, y, n);\n}\n"},
        Styled{"histogram_guarded", "atomics-privatization", "histogram.cu",
               "void run(const int* keys, int n) {\n    int* bins;\n"
               "    cudaMalloc(&bins, 256 * sizeof(int));\n"
               "    histogram_guarded<<<(n + 255) / 256, 256>>>(keys, bins, n);\n}\n"},
        Styled{"histogram_strided", "atomics-privatization", "histogram.cu",
               "void run(const int* keys, int n) {\n    int* bins;\n"
               "    cudaMalloc(&bins, 256 * sizeof(int));\n"
               "    histogram_strided<<<8, 128>>>(keys, bins, n);\n}\n"},
        Styled{"argmax_row", "row-per-warp", "argmax.cu",
               "void run(const float* x, int* best, int m, int n) {\n"
               "    argmax_row<<<(m + 127) / 128, 128>>>(x, best, m, n);\n}\n"},
        Styled{"argmax_row", "row-per-block", "argmax.cu",
               "void run(const float* x, int* best, int m, int n) {\n"
               "    argmax_row<<<1, 128>>>(x, best, 128, n);\n}\n"},
        Styled{"permute_cube", "shared-memory-transpose", "permute.cu",
               "void run(const float* in, float* out, int c, int h, int w) {\n"
               "    dim3 block(8, 8, 4);\n"
               "    dim3 grid((w + 7) / 8, (h + 7) / 8, (c + 3) / 4);\n"
               "    permute_cube<<<grid, block>>>(in, out, c, h, w);\n}\n"},
        Styled{"permute_loops", "shared-memory-transpose", "permute.cu",
               "void run(const float* in, float* out, int c, int h, int w) {\n"
               "    permute_loops<<<dim3((w + 63) / 64, h), 64>>>(in, out, c, h, w);\n}\n"},
        Styled{"columns", "shared-memory-transpose", "",
               "__global__ void columns(const float* in, float* out, int m, int n) {\n"
               "    int j = threadIdx.x + blockIdx.x * blockDim.x;\n    if (j < n) {\n"
               "        float* q = out + j * m;\n        for (int i = 0; i < m; ++i)\n"
               "            q[i] = in[i * n + j];\n    }\n}\n"
               "void run(const float* in, float* out, int rows, int n, int blocks) {\n"
               "    columns<<<blocks, 128>>>(in, out, rows, n);\n}\n"},
        Styled{"embedding_plane", "vectorized-access", "embedding.cu",
               "void run(const float* table, const int* ids, float* out, int count, int width) {\n"
               "    embedding_plane<<<dim3((width + 127) / 128, count), 128>>>(table, ids, out, "
               "count, width);\n}\n"},
        Styled{"embedding_flat", "vectorized-access", "embedding.cu",
               "void run(const float* table, const int* ids, float* out, int count, int width) {\n"
               "    embedding_flat<<<((long long)count * width + 255) / 256, 256>>>(table, ids, "
               "out, count, width);\n}\n"},
        Styled{"grey_plane", "vectorized-access", "grey.cu",
               "void run(const Pixel* in, unsigned char* out, int h, int w) {\n"
               "    dim3 grid((w + 15) / 16, (h + 15) / 16);\n"
               "    grey_plane<<<grid, dim3(16, 16)>>>(in, out, h, w);\n}\n"},
        Styled{"saxpy_strided", "vectorized-access", "saxpy.cu",
               "void run(float a, const float* x, float* y, int n) {\n"
               "    saxpy_strided<<<(n + 1023) / 1024, 256>>>(a, x, y, n);\n}\n"},
        Styled{"grey_flat", "vectorized-access", "grey.cu",
               "void run(const Pixel* in, unsigned char* out, int h, int w) {\n"
               "    grey_flat<<<(h * w + 511) / 512, 128>>>(in, out, h, w);\n}\n"},
        Styled{"bias_relu_flat", "vectorized-access", "bias_relu.cu",
               "void run(const float* x, const float* b, float* y, int m, int n) {\n"
               "    bias_relu_flat<<<(m * n + 255) / 256, 256>>>(x, b, y, m, n);\n}\n"},
        Styled{"plane", "vectorized-access", "",
               planeOf("float", "    if (i >= w) return;\n    const int at = j * w + i;\n"
                                "    if (!(j < h)) return;\n    const float* row = x + j * w;\n"
                                "    float v = row[i];\n    y[at] = v * v + i * m[j];\n")},
        Styled{"plane", "vectorized-access", "",
               planeOf("double", "    if (j < h) {\n        double* to = y + j * w + i;\n"
                                 "        if (i < w)\n            *to += x[i] * m[j * w + i];\n"
                                 "    }\n")},
        Styled{"plane", "vectorized-access", "",
               planeOf("unsigned char", "    if (i >= w || j >= h) return;\n"
                                        "    if (m[j] > 100)\n"
                                        "        y[j * w + i] = x[(h - 1 - j) * w + i] / 2;\n")},
        Styled{"plane", "vectorized-access", "",
               planeOf("float", "    if (i < w && j < h) {\n"
                                "        float s = x[j * w + i] + x[(j + 1) * w + i];\n"
                                "        if (i > 0)\n            s += x[j * w + i - 1];\n"
                                "        y[j * w + i] = s;\n    }\n")}),
    [](const auto& info) {
        std::string name = info.param.kernel + "_" + info.param.skill;
        if (info.param.file.empty())
            name += "_" + std::to_string(info.index);
        std::ranges::replace(name, '-', '_');
        return name;
    });

} // namespace
} // namespace kernelskill::engine
