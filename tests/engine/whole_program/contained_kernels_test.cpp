#include "engine/whole_program/contained_kernels.h"
#include "tests/engine/program/program_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::string_literals;

TEST(ContainedKernels, AreFoundByTheirMangledNames) {
    testing::ProgramFolder folder;
    folder.write("a.cu", "__global__ void used(float* x) { x[0] = 0; }\n"
                         "__global__ void unused(float* x) { x[0] = 0; }\n"
                         "extern \"C\" __global__ void plain(float* x) { x[0] = 0; }\n"
                         "template <typename T> __global__ void many(T* x) { x[0] = 0; }\n");
    folder.write("b/a.cu", "__global__ void used(float* x) { x[0] = 1; }\n");
    const auto tree = listTree(folder.path(), {});
    ASSERT_TRUE(tree);
    const KernelPlaces places(*tree, {});
    const std::string program = "\177ELF\0_Z4usedPf\0plain\0_Z4manyIfEvPT_\0-"s
                                "_Z4manyIdEvPT_\0x_Z6unusedPf\0_Z6otherPf\0_Z4usedPf"s;
    EXPECT_THAT(kernelsIn(program, places, ""),
                ElementsAre(ContainedKernel{"_Z4manyIdEvPT_", {"a.cu", 3, "many"}},
                            ContainedKernel{"_Z4manyIfEvPT_", {"a.cu", 3, "many"}},
                            ContainedKernel{"_Z4usedPf", {"a.cu", 0, "used"}}));
    EXPECT_EQ(kernelsIn("_Z4usedPf", places, "b").at(0).place.file, "b/a.cu");
    EXPECT_THAT(kernelsIn("", places, ""), IsEmpty());
    EXPECT_THAT(kernelsIn("_Z", places, ""), IsEmpty());
}

} // namespace
} // namespace kernelskill::engine
