#include "engine/inputs/class_numbers.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace kernelskill::engine {
namespace {

analysis::FileModel programWith(const std::string& parameter) {
    return parsedProgram("struct Grid { int nx; short flags; int ny; float step; };\n"
                         "__global__ void k(" +
                         parameter +
                         ", float* out) { out[threadIdx.x] = 1; }\n"
                         "void run(Grid g, int n, float* o) { k<<<1, 32>>>(" +
                         (parameter.starts_with("Grid") ? "g" : "n") + ", o); }\n");
}

LaunchSpec launchOf(const analysis::FileModel& file) {
    const auto launches = inferLaunches(file, file.kernels.at(0));
    EXPECT_TRUE(launches);
    return launches ? launches->front() : LaunchSpec{};
}

int valueAt(const LaunchSpec& launch, std::size_t offset) {
    int value = 0;
    std::memcpy(&value, std::get<ScalarSpec>(launch.arguments.at(0)).bytes.data() + offset,
                sizeof value);
    return value;
}

TEST(ClassNumbers, EachLaunchHasSmallerExtents) {
    const auto file = programWith("Grid g");
    const LaunchSpec launch = launchOf(file);
    const auto others = otherClassNumbers({file, file.kernels.at(0)}, launch);
    ASSERT_EQ(others.size(), 4u);
    std::set<int> widths;
    for (const LaunchSpec& other : others) {
        EXPECT_LT(valueAt(other, 0), valueAt(launch, 0));
        EXPECT_LT(valueAt(other, 8), valueAt(launch, 8));
        EXPECT_NE(valueAt(other, 0) % 32, 0);
        EXPECT_EQ(valueAt(other, 12), valueAt(launch, 12)) << "the float stays";
        widths.insert(valueAt(other, 0));
    }
    EXPECT_EQ(widths.size(), 4u);
}

TEST(ClassNumbers, NumbersOfNoClassStay) {
    const auto file = programWith("int n");
    EXPECT_TRUE(otherClassNumbers({file, file.kernels.at(0)}, launchOf(file)).empty());
}

} // namespace
} // namespace kernelskill::engine
