#include "engine/inputs/size_relations.h"

#include <gtest/gtest.h>

#include <cstring>

namespace kernelskill::engine {
namespace {

ScalarSpec integer(std::string name, std::int32_t value) {
    ScalarSpec scalar{std::move(name), std::vector<std::byte>(sizeof value), value, std::nullopt};
    std::memcpy(scalar.bytes.data(), &value, sizeof value);
    return scalar;
}

BufferSpec buffer(std::string name, std::uint64_t elements) {
    BufferSpec spec;
    spec.name = std::move(name);
    spec.elements = elements;
    return spec;
}

LaunchSpec launchOf(Dim3 grid, Dim3 block, std::vector<ArgumentSpec> arguments) {
    LaunchSpec launch;
    launch.grid = grid;
    launch.block = block;
    launch.arguments = std::move(arguments);
    return launch;
}

TEST(SizeRelations, AThreadForEachElement) {
    const SizeRelations sizes(
        launchOf({196, 1, 1}, {256, 1, 1}, {buffer("x", 50'000), integer("n", 50'000)}));
    ASSERT_EQ(sizes.extents(), (SizeRelations::Extents{{"n", 50'000}}));
    const auto launch = sizes.at({{"n", 1000}});
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->grid.x, 4u);
    EXPECT_EQ(std::get<BufferSpec>(launch->arguments[0]).elements, 1000u);
    std::int32_t passed = 0;
    std::memcpy(&passed, std::get<ScalarSpec>(launch->arguments[1]).bytes.data(), sizeof passed);
    EXPECT_EQ(passed, 1000);
}

TEST(SizeRelations, PositionsAreThoseWithAThreadOfTheirOwn) {
    const LaunchSpec each = launchOf({3, 1, 1}, {128, 1, 1}, {integer("m", 300)});
    EXPECT_EQ(SizeRelations(each).positions(0, each), 300);
    EXPECT_EQ(SizeRelations(each).positions(1, each), 0);
    const LaunchSpec fours = launchOf({3, 1, 1}, {128, 1, 1}, {integer("m", 1500)});
    EXPECT_EQ(SizeRelations(fours).positions(0, fours), 0);
}

TEST(SizeRelations, ABlockForEachRowAndABufferOfTheProduct) {
    const SizeRelations sizes(
        launchOf({60, 1, 1}, {128, 1, 1},
                 {buffer("x", 60 * 700), integer("rows", 60), integer("columns", 700)}));
    const auto launch = sizes.at({{"rows", 7}, {"columns", 33}});
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->grid.x, 7u);
    EXPECT_EQ(std::get<BufferSpec>(launch->arguments[0]).elements, 7u * 33);
}

TEST(SizeRelations, SeveralElementsForEachThread) {
    const SizeRelations sizes(
        launchOf({16, 1, 1}, {128, 1, 1}, {buffer("x", 4096), integer("n", 4096)}));
    EXPECT_EQ(sizes.at({{"n", 8192}})->grid.x, 32u);
}

TEST(SizeRelations, AGridThatFollowsNothingGivesNoExtents) {
    EXPECT_TRUE(
        SizeRelations(launchOf({240, 1, 1}, {192, 1, 1}, {buffer("x", 1001), integer("n", 1001)}))
            .extents()
            .empty());
    EXPECT_TRUE(
        SizeRelations(launchOf({1, 1, 1}, {256, 1, 1}, {integer("n", 256)})).extents().empty());
}

TEST(SizeRelations, CapturedDataKeepTheirSize) {
    BufferSpec captured = buffer("x", 512);
    captured.fill = Fill::Captured;
    EXPECT_TRUE(SizeRelations(launchOf({2, 1, 1}, {256, 1, 1}, {captured, integer("n", 512)}))
                    .extents()
                    .empty());
}

TEST(SizeRelations, AValueThatItsTypeCannotHoldIsNoLaunch) {
    const SizeRelations sizes(
        launchOf({2, 1, 1}, {256, 1, 1}, {buffer("x", 512), integer("n", 512)}));
    EXPECT_FALSE(sizes.at({{"n", std::int64_t{1} << 31}}));
    EXPECT_FALSE(sizes.at({{"n", 0}}));
}

} // namespace
} // namespace kernelskill::engine
