#include "engine/whole_program/kernel_places.h"
#include "tests/engine/program/program_folder.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

class KernelPlacesTest : public ::testing::Test {
protected:
    [[nodiscard]] std::optional<KernelDefinition> find(const std::string& symbol,
                                                       const std::string& folder = "") const {
        const auto tree = listTree(folder_.path(), {});
        EXPECT_TRUE(tree);
        return KernelPlaces(*tree, {}).of(symbol, folder);
    }
    testing::ProgramFolder folder_;
};

TEST_F(KernelPlacesTest, FindsKernelsByTheirSymbols) {
    folder_.write("src/kernels.cuh", "#pragma once\n"
                                     "__global__ void declared(float* x);\n"
                                     "namespace blas {\n"
                                     "template <typename T>\n"
                                     "__global__ void copy(const T* x, T* y) { y[0] = x[0]; }\n"
                                     "}\n");
    folder_.write("main.cu", "// __global__ void ghost(float* x) {}\n"
                             "#if 0\n__global__ void off(float* x) {}\n#endif\n"
                             "extern \"C\" __global__ void plain(float* x) { x[0] = 0; }\n"
                             "namespace {\n__global__ void hidden(float* x) { x[0] = 1; }\n}\n");
    EXPECT_EQ(find("_ZN4blas4copyIfEEvPKT_PS1_"),
              (KernelDefinition{"src/kernels.cuh", 3, "blas::copy"}));
    EXPECT_EQ(find("plain"), (KernelDefinition{"main.cu", 4, "plain"}));
    EXPECT_EQ(find("_ZN12_GLOBAL__N_16hiddenEPf"), (KernelDefinition{"main.cu", 6, "hidden"}));
    for (const char* other : {"_Z8declaredPf", "_Z5ghostPf", "_Z3offPf", "_Z4copyPf", "nothing"})
        EXPECT_EQ(find(other), std::nullopt) << other;
}

TEST_F(KernelPlacesTest, FindsKernelsBehindMacrosOfOtherFiles) {
    folder_.write("bounds.h",
                  "#define BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)\n");
    folder_.write("rates.h", "#include \"bounds.h\"\n"
                             "template <class real>\n"
                             "__global__ void\n"
                             "BOUNDS (128, 4)\n"
                             "rates(const real* t, real* r)\n"
                             "{ r[0] = t[0]; }\n"
                             "__global__ BOUNDS(64, 1) void early(float* x) { x[0] = 0; }\n"
                             "__global__ void late(float* x) noexcept(true) { x[0] = 0; }\n");
    EXPECT_EQ(find("_Z5ratesIfEvPKT_PS0_"), (KernelDefinition{"rates.h", 1, "rates"}));
    EXPECT_EQ(find("_Z5ratesIdEvPKT_PS0_"), (KernelDefinition{"rates.h", 1, "rates"}));
    EXPECT_EQ(find("_Z5earlyPf"), (KernelDefinition{"rates.h", 6, "early"}));
    EXPECT_EQ(find("_Z4latePf"), (KernelDefinition{"rates.h", 7, "late"}));
}

TEST_F(KernelPlacesTest, TakesTheDefinitionNearestToTheProgram) {
    for (const char* folder : {"a", "b", "c/deep"})
        folder_.write(std::string(folder) + "/k.cu", "__global__ void k(float* x) { x[0] = 0; }\n");
    EXPECT_EQ(find("_Z1kPf", "b")->file, "b/k.cu");
    EXPECT_EQ(find("_Z1kPf", "c/deep")->file, "c/deep/k.cu");
    EXPECT_EQ(find("_Z1kPf")->file, "a/k.cu");
}

TEST(KernelDefinition, IsNamedByItsPlainOrQualifiedName) {
    const KernelDefinition kernel{"a.cu", 1, "blas::scale"};
    EXPECT_TRUE(kernel.isNamed("scale"));
    EXPECT_TRUE(kernel.isNamed("blas::scale"));
    for (const char* other : {"", "cale", "::scale", "las::scale", "blas", "rescale"})
        EXPECT_FALSE(kernel.isNamed(other)) << other;
    EXPECT_FALSE((KernelDefinition{"a.cu", 1, "rescale"}.isNamed("scale")));
}

} // namespace
} // namespace kernelskill::engine
