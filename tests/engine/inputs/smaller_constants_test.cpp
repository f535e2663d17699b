// Programs whose sizes are constants, at smaller sizes.
#include "engine/inputs/smaller_constants.h"
#include "tests/engine/breakage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::RepairBench;

class SmallerConstantsTest : public ::testing::Test {
protected:
    /// The text with its constants divided by `factor`; empty if none changes.
    std::string smaller(const std::string& text, double factor) {
        const auto model = bench_.parsed(text);
        const auto constants = smallerConstants(model, factor);
        if (!constants)
            return {};
        label_ = constants->label;
        EXPECT_EQ(constants->edits.size(), 1u);
        const auto changed = analysis::applyEdits(text, constants->edits.at(model.file));
        EXPECT_TRUE(changed);
        EXPECT_EQ(changed->size(), text.size());
        return *changed;
    }
    RepairBench bench_;
    std::string label_;
};

TEST_F(SmallerConstantsTest, MacrosAndConstantsOfTheFileAreDivided) {
    EXPECT_EQ(smaller("#define NX 4096 // columns\nconst int rows = 1024;\n"
                      "constexpr unsigned depth = 2048u;\n",
                      8),
              "#define NX 512  // columns\nconst int rows = 128 ;\n"
              "constexpr unsigned depth = 256  ;\n");
    EXPECT_EQ(label_, "NX=512, rows=128, depth=256");
}

TEST_F(SmallerConstantsTest, TheRestOfAWarpStays) {
    EXPECT_EQ(smaller("#define N 1003\n", 100), "#define N 107 \n") << "1003 and 107 are 11 mod 32";
    EXPECT_EQ(smaller("#define N (1 << 20)\n", 1024), "#define N 1024     \n");
}

TEST_F(SmallerConstantsTest, ExtentsOfSharedArraysGoWithTheBlock) {
    EXPECT_EQ(smaller("const int N = 1 << 10;\nconst int SHMEM = 1 << 10;\n#define SIDE 1024\n"
                      "__global__ void k(int *a) {\n  __shared__ int s[SHMEM], t[2 * SIDE];\n"
                      "  for (int i = 0; i < N; ++i) s[i] = t[i] = a[i];\n}\n",
                      8),
              "const int N = 128    ;\nconst int SHMEM = 1 << 10;\n#define SIDE 1024\n"
              "__global__ void k(int *a) {\n  __shared__ int s[SHMEM], t[2 * SIDE];\n"
              "  for (int i = 0; i < N; ++i) s[i] = t[i] = a[i];\n}\n");
    // The preprocessor asks for it.
    EXPECT_EQ(smaller("#define SHMEM 1024\n#if 512 < SHMEM\n#define N 2048\n#endif\n"
                      "__global__ void k(int *a) {\n  __shared__ int s[SHMEM];\n"
                      "  s[0] = a[N - 1];\n}\n",
                      8),
              "#define SHMEM 1024\n#if 512 < SHMEM\n#define N 256 \n#endif\n"
              "__global__ void k(int *a) {\n  __shared__ int s[SHMEM];\n"
              "  s[0] = a[N - 1];\n}\n");
    // The data have that size as well.
    EXPECT_EQ(
        smaller("#define N 1024\n"
                "__global__ void k(int *a) {\n  __shared__ int s[N];\n  s[0] = a[N - 1];\n}\n",
                8),
        "#define N 128 \n"
        "__global__ void k(int *a) {\n  __shared__ int s[N];\n  s[0] = a[N - 1];\n}\n");
    EXPECT_EQ(label_, "N=128");
}

TEST_F(SmallerConstantsTest, OnlyTheBranchThatIsTakenIsChanged) {
    EXPECT_EQ(smaller("#ifdef BIG\n#define N 4096\n#else\n#define N 2048\n#endif\n", 16),
              "#ifdef BIG\n#define N 4096\n#else\n#define N 128 \n#endif\n");
    EXPECT_EQ(label_, "N=128");
}

TEST_F(SmallerConstantsTest, ThoseThatAreSmallOrShapeBlocksOrFollowFromOthersStay) {
    EXPECT_EQ(smaller("#define N 256\n#define BLOCK_SIZE 512\n#define EPS 1e-3\n"
                      "#define NAME \"4096\"\n#define SQUARE(x) ((x) * 4096)\n"
                      "int counter = 4096;\nconst float scale = 4096.0f;\n",
                      8),
              "");
    EXPECT_EQ(smaller("#define N 4096\n#define M (N / 2)\n", 8),
              "#define N 512 \n#define M (N / 2)\n");
}

} // namespace
} // namespace kernelskill::engine
