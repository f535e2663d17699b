#include "engine/execution/emulator/worker/device_memory.h"

#include <gtest/gtest.h>

namespace kernelskill::engine::emulator {
namespace {

constexpr std::uint64_t budget = 16 << 20;

LaunchSpec launchWith(std::vector<BufferSpec> buffers) {
    LaunchSpec launch;
    for (BufferSpec& buffer : buffers)
        launch.arguments.emplace_back(std::move(buffer));
    return launch;
}

BufferSpec buffer(std::string name, std::optional<std::uint64_t> elements) {
    BufferSpec spec;
    spec.name = std::move(name);
    spec.elements = elements;
    return spec;
}

TEST(DeviceMemory, GivesPagesOnlyWhereTheyAreTouched) {
    auto memory =
        DeviceMemory::make(launchWith({buffer("x", std::uint64_t{1} << 30)}), 1, budget, true);
    ASSERT_TRUE(memory.has_value());
    const std::uint64_t far = memory->buffers()[0].low + (std::uint64_t{3} << 30);
    EXPECT_EQ(memory->provide(far), DeviceMemory::Fault::Provided);
    EXPECT_EQ(memory->provide(far), DeviceMemory::Fault::NotOurs) << "it is there already";
    EXPECT_EQ(memory->provide(1234), DeviceMemory::Fault::NotOurs);
}

TEST(DeviceMemory, ReadsTheSameWhetherAPageWasTouchedOrNot) {
    const LaunchSpec launch = launchWith({buffer("x", 1 << 16)});
    auto touched = DeviceMemory::make(launch, 5, budget, false);
    auto untouched = DeviceMemory::make(launch, 5, budget, false);
    ASSERT_TRUE(touched.has_value() && untouched.has_value());
    ASSERT_EQ(touched->provide(touched->buffers()[0].low), DeviceMemory::Fault::Provided);
    const auto one = touched->contents(touched->buffers()[0], 0, 1 << 18);
    const auto other = untouched->contents(untouched->buffers()[0], 0, 1 << 18);
    ASSERT_TRUE(one.has_value() && other.has_value());
    EXPECT_EQ(*one, *other);
}

TEST(DeviceMemory, StopsAtItsBudget) {
    auto memory = DeviceMemory::make(launchWith({buffer("x", std::nullopt)}), 1, 128 << 10, false);
    ASSERT_TRUE(memory.has_value());
    const std::uint64_t low = memory->buffers()[0].low;
    EXPECT_EQ(memory->provide(low), DeviceMemory::Fault::Provided);
    EXPECT_EQ(memory->provide(low + (1 << 20)), DeviceMemory::Fault::Provided);
    EXPECT_EQ(memory->provide(low + (2 << 20)), DeviceMemory::Fault::OverBudget);
    EXPECT_FALSE(memory->contents(memory->buffers()[0], 0, 1 << 20).has_value());
}

TEST(DeviceMemory, RefusesABufferBeyondItsAddresses) {
    const auto memory =
        DeviceMemory::make(launchWith({buffer("huge", std::uint64_t{1} << 40)}), 1, budget, false);
    ASSERT_FALSE(memory.has_value());
    EXPECT_EQ(memory.error().kind, ErrorKind::InvalidInput);
    EXPECT_NE(memory.error().what.find("'huge'"), std::string::npos);
}

TEST(DeviceMemory, TellsTheExtentThatWasTouched) {
    DeviceMemory::Buffer touched;
    touched.spec = buffer("x", std::nullopt);
    touched.readEnd = 41;
    const BufferExtent extent = DeviceMemory::extentOf(touched);
    EXPECT_EQ(extent.elements, 11u);
    EXPECT_TRUE(extent.read);
    EXPECT_FALSE(extent.written);
}

} // namespace
} // namespace kernelskill::engine::emulator
