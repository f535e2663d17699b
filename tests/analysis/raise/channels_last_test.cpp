/// Results in channels-last order: where they lie, and what it costs to read them.
#include "analysis/raise/builder.h"
#include "analysis/raise/channels_last.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::analysis::raise {
namespace {

constexpr ScalarKind real = ScalarKind::Float;

std::vector<std::string> extents(const std::vector<Index>& shape) {
    std::vector<std::string> texts;
    for (const Index& extent : shape)
        texts.push_back(extent.text());
    return texts;
}

using Extents = std::vector<std::string>;

class ChannelsLast : public ::testing::Test {
protected:
    ChannelsLast() { builder_.setChannelsLast(true); }

    const Buffer& lastBuffer() const { return builder_.program().buffers.back(); }
    std::size_t steps() const { return builder_.program().steps.size(); }

    Builder builder_;
    Tensor x_ = builder_.input("x", real, {2, 3, 5, 7}, Buffer::Role::Input, "x");
};

Tensor doubled(const Tensor& tensor) {
    return mapped(tensor, real,
                  [](const Scalar& value) { return call(real, Function::Add, {value, value}); });
}

TEST_F(ChannelsLast, KeepsMapsThatWayAndReadsThemInPlace) {
    const Tensor kept = builder_.kept(doubled(x_), "kept");
    EXPECT_EQ(extents(kept.shape), Extents({"2", "3", "5", "7"}));
    EXPECT_EQ(extents(lastBuffer().shape), Extents({"2", "5", "7", "3"}));
    EXPECT_EQ(kept.at({0, 1, 3, 4})->position, (std::vector<Index>{0, 3, 4, 1}));
    // It is a whole buffer already.
    const std::size_t before = steps();
    (void)builder_.kept(kept, "again");
    EXPECT_EQ(steps(), before);
}

TEST_F(ChannelsLast, GivesLibrariesWhatLiesThatWayWithoutACopy) {
    const Tensor kept = builder_.kept(doubled(x_), "kept");
    const std::size_t before = steps();
    const Tensor result =
        builder_.library("faster", {kept}, {constantTensor(real, {2, 4, 5, 7}, 0)}, "conv", true)
            .front();
    EXPECT_EQ(steps(), before + 1);
    const auto& call = std::get<LibraryCall>(builder_.program().steps.back());
    EXPECT_TRUE(call.isChannelsLast);
    EXPECT_EQ(call.inputs, std::vector<BufferId>{1});
    EXPECT_EQ(extents(lastBuffer().shape), Extents({"2", "5", "7", "4"}));
    EXPECT_EQ(extents(result.shape), Extents({"2", "4", "5", "7"}));
    // The caller's own tensor is brought into that order first.
    (void)builder_.library("faster", {x_}, {x_}, "conv", true);
    EXPECT_EQ(steps(), before + 3);
}

TEST_F(ChannelsLast, HandsOutputsOverInTheirOwnOrder) {
    const Tensor kept = builder_.kept(doubled(x_), "kept");
    const BufferId output = builder_.output(kept, "y");
    EXPECT_EQ(extents(builder_.program().buffers.at(output).shape), Extents({"2", "3", "5", "7"}));
}

TEST_F(ChannelsLast, StoresWindowsAndReductionsThatKeepChannels) {
    const Tensor pool = builder_.reducedBy(
        Reducer::Maximum, real, {2, 3, 2, 3}, {{"r", 2}, {"s", 2}},
        [&](const std::vector<Index>& at, const std::vector<Index>& k) {
            return x_.at({at[0], at[1], 2 * at[2] + k[0], 2 * at[3] + k[1]});
        },
        "pool");
    EXPECT_EQ(extents(lastBuffer().shape), Extents({"2", "2", "3", "3"}));
    EXPECT_EQ(std::get<Computation>(builder_.program().steps.back()).axes.back().extent->text(),
              "3");
    (void)builder_.reduced(Reducer::Sum, x_, {1}, true, "channels");
    EXPECT_EQ(extents(lastBuffer().shape), Extents({"2", "5", "7"})) << "channels are gone";
    (void)builder_.reduced(Reducer::Sum, x_, {3}, true, "rows");
    EXPECT_EQ(extents(lastBuffer().shape), Extents({"2", "5", "3"}));
    (void)builder_.reduced(Reducer::Sum, x_, {0, 2, 3}, true, "channels");
    EXPECT_EQ(extents(lastBuffer().shape), Extents({"3"}));
    const Tensor volume = builder_.input("v", real, {2, 3, 4, 5, 7}, Buffer::Role::Input, "v");
    (void)builder_.reduced(Reducer::Sum, volume, {2}, false, "depth");
    EXPECT_EQ(extents(lastBuffer().shape), Extents({"2", "5", "7", "3"}));
}

TEST_F(ChannelsLast, LeavesTensorsOfFewerAxesAsTheyAre) {
    const Tensor rows = builder_.input("r", real, {4, 5, 6}, Buffer::Role::Input, "r");
    (void)builder_.kept(doubled(rows), "kept");
    EXPECT_EQ(extents(lastBuffer().shape), Extents({"4", "5", "6"}));
}

} // namespace
} // namespace kernelskill::analysis::raise
