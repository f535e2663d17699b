#include "engine/whole_program/program_turns.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

KernelTimes kernel(std::string symbol, std::uint64_t total) {
    KernelTimes times;
    times.symbol = std::move(symbol);
    times.total = total;
    return times;
}

TEST(ProgramTurns, SpeedupIsTheMedianRatio) {
    EXPECT_EQ(speedupOf({}), std::nullopt);
    EXPECT_EQ(speedupOf(std::vector<TimePair>{{1, 0}, {0, 1}}), std::nullopt) << "not measured";
    EXPECT_EQ(speedupOf(std::vector<TimePair>{{4, 1}, {2, 1}, {3, 1}}), 3.0);
}

TEST(ProgramTurns, RatiosAreOfWhatWasMeasured) {
    EXPECT_EQ(ratiosOf(std::vector<TimePair>{{0, 1}, {4, 1}, {1, 0}, {2, 1}}),
              (std::vector<double>{2, 4}));
    EXPECT_EQ(speedupOf(std::vector<TimePair>{{0, 1}, {4, 1}, {2, 1}}), 3.0) << "between two";
}

TEST(ProgramTurns, FasterIsBeyondTheNoise) {
    using Pairs = std::vector<TimePair>;
    EXPECT_TRUE(isFaster(Pairs{{1.01, 1}, {1.001, 1}, {1.3, 1}})) << "faster in each turn";
    EXPECT_TRUE(isFaster(Pairs{{1.1, 1}, {1.03, 1}, {0.9, 1}})) << "by more than 2 %";
    EXPECT_FALSE(isFaster(Pairs{{1.1, 1}, {1.01, 1}, {0.999, 1}}));
    EXPECT_FALSE(isFaster(Pairs{{1, 1}, {1, 1}, {1, 1}}));
    EXPECT_FALSE(isFaster(Pairs{{1.01, 1}})) << "one turn tells no noise";
    EXPECT_TRUE(isFaster(Pairs{{1.03, 1}}));
    EXPECT_FALSE(isFaster(Pairs{{1, 1.1}, {1, 1.1}}));
    EXPECT_FALSE(isFaster({}));
    EXPECT_TRUE(isFasterInEachTurn(Pairs{{1.01, 1}, {1.03, 1}, {1.3, 1}}));
    EXPECT_FALSE(isFasterInEachTurn(Pairs{{1.1, 1}, {1.03, 1}, {0.9, 1}}));
    EXPECT_FALSE(isFasterInEachTurn(Pairs{{1.01, 1}, {1.01, 1}, {1.3, 1}})) << "too little";
    EXPECT_FALSE(isFasterInEachTurn(Pairs{{1.3, 1}})) << "one turn tells no noise";
}

TEST(ProgramTurns, SlowerIsCertain) {
    using Pairs = std::vector<TimePair>;
    EXPECT_TRUE(isSlower(Pairs{{1, 1.1}, {1, 1.1}, {1, 1.01}}));
    EXPECT_FALSE(isSlower(Pairs{{1, 1.1}, {1, 1.1}, {1, 0.99}})) << "faster in one turn";
    EXPECT_FALSE(isSlower(Pairs{{1, 1.01}, {1, 1.01}, {1, 1.5}})) << "within the noise";
    EXPECT_FALSE(isSlower(Pairs{{1, 1}, {1, 1}}));
    EXPECT_FALSE(isSlower({}));
}

TEST(ProgramTurns, AKernelHasItsInstantiationsAndWhatItsEditAdds) {
    TimelineTurn turn;
    turn.before.kernels = {kernel("_Z3sumIfEvPT_", 2'000'000'000),
                           kernel("_Z3sumIdEvPT_", 1'000'000'000),
                           kernel("_Z5otherv", 500'000'000)};
    turn.after.kernels = {kernel("_Z3sumIfEvPT_", 500'000'000),
                          kernel("_ZN1n8sumPartsEv", 250'000'000), kernel("_Z5otherv", 400'000'000),
                          kernel("_Z3newv", 100'000'000)};
    turn.before.devices.resize(1);
    turn.before.devices.front().kernels = 3'000'000'000;
    turn.before.devices.front().begin = 1'000'000'000;
    turn.before.devices.front().end = 7'000'000'000;
    turn.before.devices.front().copies = 500'000'000;
    turn.before.devices.front().sets = 500'000'000;
    turn.after.devices.resize(1);
    turn.after.devices.front().kernels = 1'000'000'000;
    turn.after.devices.front().end = 2'000'000'000;
    const ProgramTurns turns{{}, {turn}};
    EXPECT_EQ(turns.ofKernel("sum", {"sumParts", "other", "x"}),
              (std::vector<TimePair>{{3, 0.75}}));
    EXPECT_EQ(turns.ofKernel("other", {}), (std::vector<TimePair>{{0.5, 0.4}}));
    EXPECT_EQ(turns.ofSymbol("_Z3sumIfEvPT_"), (std::vector<TimePair>{{2, 0.5}}));
    EXPECT_EQ(turns.ofSymbol("_Z3sumIdEvPT_"), (std::vector<TimePair>{{1, 0}}));
    EXPECT_EQ(turns.ofInstantiation("_Z3sumIfEvPT_", {"x"}), (std::vector<TimePair>{{2, 0.5}}));
    EXPECT_EQ(turns.ofInstantiation("_Z3sumIfEvPT_", {"sumParts"}),
              (std::vector<TimePair>{{3, 0.75}}))
        << "whose parts they are is not known";
    EXPECT_EQ(turns.ofInstantiation("_Z3sumIdEvPT_", {}), (std::vector<TimePair>{{3, 0.5}}))
        << "it is not launched any more";
    EXPECT_EQ(turns.gpu(), (std::vector<TimePair>{{4, 1}}));
    EXPECT_EQ(turns.ofKernels(), (std::vector<TimePair>{{3, 1}}));
    EXPECT_EQ(turns.spans(), (std::vector<TimePair>{{6, 2}}));
    EXPECT_EQ(turns.gpuWithoutSameCopies(), (std::vector<TimePair>{{3.5, 1}}));
    turn.after.devices.front().copiedBytes = 8;
    EXPECT_EQ((ProgramTurns{{}, {turn}}.gpuWithoutSameCopies()), (std::vector<TimePair>{{4, 1}}));
}

} // namespace
} // namespace kernelskill::engine
