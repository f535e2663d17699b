#include "tests/engine/inputs/parsed_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::string_view kernel = "__global__ void saxpy(int n, float a, const float* x, float* "
                                    "y, int* id) { y[0] = a * x[id[n]]; }\n";

LaunchPins pinsOf(const std::string& comment) {
    return findLaunchPins(parsedProgram(std::string(kernel) + comment));
}

TEST(LaunchPins, aLineCommentPinsGridBlockAndArguments) {
    const auto launch = bestLaunch(std::string(kernel) +
                                   "// kernelskill: launch saxpy<<<(n+255)/256, 256>>>(n=1<<20, "
                                   "a=2.5, x=rand[n], y=zero[2*n], id=rand[n, 0..n])\n");
    EXPECT_EQ(launch.origin, LaunchOrigin::Pinned);
    EXPECT_EQ(launch.grid, (Dim3{4096, 1, 1}));
    EXPECT_EQ(launch.block, (Dim3{256, 1, 1}));
    ASSERT_NE(scalarNamed(launch, "n"), nullptr);
    EXPECT_EQ(scalarNamed(launch, "n")->integer, 1 << 20);
    EXPECT_EQ(scalarNamed(launch, "a")->floating, 2.5);
    EXPECT_EQ(bufferNamed(launch, "x")->elements, 1u << 20);
    EXPECT_EQ(bufferNamed(launch, "x")->fill, Fill::Random);
    EXPECT_EQ(bufferNamed(launch, "y")->elements, 2u << 20);
    EXPECT_EQ(bufferNamed(launch, "y")->fill, Fill::Zero);
    EXPECT_EQ(bufferNamed(launch, "id")->integerRange, 1 << 20);
}

std::string repeated(std::string_view text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i)
        result += text;
    return result;
}

TEST(LaunchPins, deepOnesAreErrorsOrHaveNoValue) {
    for (const std::string& grid :
         {repeated("(", 5000) + "1" + repeated(")", 5000), "1" + repeated("+1", 50'000),
          repeated("(", 100'000), repeated("-", 5000) + "1", "f" + repeated("(1)", 5000),
          repeated("1 ? ", 5000) + "1"}) {
        const auto pins = pinsOf("// kernelskill: launch saxpy<<<" + grid + ", 1>>>(n=1)\n");
        EXPECT_TRUE(pins.pins.empty());
        EXPECT_EQ(pins.errors.size(), 1U);
    }
    // What is too deep within a call, a list or an index has no value.
    for (const std::string& grid : {repeated("f(", 5000) + "1" + repeated(")", 5000),
                                    repeated("{", 5000) + repeated("}", 5000),
                                    repeated("a[", 5000) + "1" + repeated("]", 5000)}) {
        const auto pins = pinsOf("// kernelskill: launch saxpy<<<" + grid + ", 1>>>(n=1)\n");
        EXPECT_EQ(pins.pins.size(), 1U);
    }
}

TEST(LaunchPins, aBlockCommentMayRunOverLines) {
    const auto launch =
        bestLaunch(std::string(kernel) + "/* kernelskill: launch saxpy<<<dim3(2, 3),\n"
                                         " *   dim3(8, 4, 2), 1024>>>(n = 7,\n"
                                         " *   x = 1.5[16], id = iota) */\n");
    EXPECT_EQ(launch.grid, (Dim3{2, 3, 1}));
    EXPECT_EQ(launch.block, (Dim3{8, 4, 2}));
    EXPECT_EQ(launch.dynamicSharedBytes, 1024u);
    EXPECT_EQ(bufferNamed(launch, "x")->fill, Fill::Constant);
    EXPECT_DOUBLE_EQ(bufferNamed(launch, "x")->value, 1.5);
    EXPECT_EQ(bufferNamed(launch, "id")->fill, Fill::Iota);
    EXPECT_FALSE(bufferNamed(launch, "id")->elements);
}

TEST(LaunchPins, commentsThatOnlyMentionTheWordAreNoPins) {
    const auto pins =
        pinsOf("// see kernelskill: launch x\nconst char* s = \"// kernelskill: launch y\";\n");
    EXPECT_TRUE(pins.pins.empty());
    EXPECT_TRUE(pins.errors.empty());
}

struct Malformed {
    std::string_view pin;
    std::string_view message;
};

class MalformedPin : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedPin, isAnErrorWithItsLineAndTheForm) {
    const auto pins = pinsOf("\n// kernelskill: " + std::string(GetParam().pin) + "\n");
    EXPECT_TRUE(pins.pins.empty());
    ASSERT_EQ(pins.errors.size(), 1u);
    EXPECT_EQ(pins.errors[0].kind, ErrorKind::InvalidInput);
    EXPECT_THAT(pins.errors[0].what, HasSubstr(std::string(GetParam().message)));
    EXPECT_THAT(pins.errors[0].where, EndsWith("a.cu:3"));
    EXPECT_THAT(pins.errors[0].remedy, HasSubstr("<<<grid, block"));
}

INSTANTIATE_TEST_SUITE_P(
    Pins, MalformedPin,
    ::testing::Values(Malformed{"lunch saxpy<<<1, 1>>>()", "expected 'launch'"},
                      Malformed{"launch", "expected the kernel's name"},
                      Malformed{"launch saxpy(1)", "expected '<<<'"},
                      Malformed{"launch saxpy<<<1, 1", "not closed with '>>>'"},
                      Malformed{"launch saxpy<<<1>>>()", "needs a grid and a block"},
                      Malformed{"launch saxpy<<<1 +, 1>>>()", "the grid"},
                      Malformed{"launch saxpy<<<1, 1>>>", "expected '('"},
                      Malformed{"launch saxpy<<<1, 1>>>(n=4", "not closed with ')'"},
                      Malformed{"launch saxpy<<<1, 1>>>(4)", "expected 'parameter=value'"},
                      Malformed{"launch saxpy<<<1, 1>>>(m=4)", "no parameter 'm'"},
                      Malformed{"launch other<<<1, 1>>>()", "no kernel 'other'"},
                      Malformed{"launch saxpy<<<1, 1>>>(x=noise[4])", "is no fill"},
                      Malformed{"launch saxpy<<<1, 1>>>(x=rand[4, 3..9])", "must read 0..k"},
                      Malformed{"launch saxpy<<<1, 1>>>(x=rand[])", "number of elements"},
                      Malformed{"launch saxpy<<<1, 1>>>(n=rand[4])", "is no pointer"},
                      Malformed{"launch saxpy<<<1, 1>>>(x=n)", "give it a buffer"}));

} // namespace
} // namespace kernelskill::engine
