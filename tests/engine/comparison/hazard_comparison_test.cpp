#include "engine/comparison/hazard_comparison.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

Hazard race(const std::string& object, RaceScope scope, RacePair pair = RacePair::ReadWrite,
            RaceDoubt doubt = RaceDoubt::None) {
    Hazard hazard;
    hazard.certain = doubt == RaceDoubt::None;
    hazard.details.object = object;
    hazard.details.scope = scope;
    hazard.details.pair = pair;
    hazard.details.doubt = doubt;
    return hazard;
}

Profile showing(std::vector<Hazard> hazards, LaunchOrigin origin = LaunchOrigin::Pinned) {
    Profile profile;
    profile.hazards = std::move(hazards);
    profile.launch.origin = origin;
    BufferSpec buffer;
    buffer.name = "out";
    profile.launch.arguments = {buffer};
    return profile;
}

std::size_t added(const Profile& original, const Profile& candidate, bool countsPlaces = false) {
    return newConflicts(original, candidate, countsPlaces).size();
}

TEST(NewConflicts, AreThoseOfAnotherObjectOrOfOtherAccesses) {
    const Profile original = showing({race("out", RaceScope::Block)});
    EXPECT_EQ(added(original, original), 0u);
    EXPECT_EQ(added(original, showing({race("tile", RaceScope::Block)})), 1u);
    EXPECT_EQ(added(original, showing({race("out", RaceScope::Block, RacePair::AtomicRead)})), 1u);
    const Profile writes = showing({race("out", RaceScope::Block, RacePair::WriteWrite)});
    EXPECT_EQ(added(original, writes), 0u);
    EXPECT_EQ(added(original, writes, true), 1u);
}

TEST(NewConflicts, CountSuspicionsAsWell) {
    EXPECT_EQ(added(showing({}), showing({race("tile", RaceScope::Warp, RacePair::ReadWrite,
                                               RaceDoubt::LockStep)})),
              1u);
}

TEST(NewConflicts, MayNotReachFurther) {
    const Profile inWarp = showing({race("tile", RaceScope::Warp)});
    const Profile inBlock = showing({race("tile", RaceScope::Block)});
    EXPECT_EQ(added(inWarp, inBlock), 1u);
    EXPECT_EQ(added(inBlock, inWarp), 0u);
}

TEST(NewConflicts, MeetWhereverTheIndicesAreGuesses) {
    const Profile original =
        showing({race("out", RaceScope::Warp, RacePair::WriteWrite, RaceDoubt::GuessedIndices)});
    const Profile candidate =
        showing({race("out", RaceScope::Grid, RacePair::WriteWrite, RaceDoubt::GuessedIndices)});
    EXPECT_EQ(added(original, candidate), 0u);
    EXPECT_EQ(added(showing({}), candidate), 1u);
    EXPECT_EQ(added(showing({race("out", RaceScope::Warp)}, LaunchOrigin::Guessed),
                    showing({race("out", RaceScope::Block)}, LaunchOrigin::Guessed)),
              0u);
}

TEST(NewConflicts, MayNotBeAtMorePlacesWhereThatCounts) {
    const Profile once = showing({race("out", RaceScope::Block)});
    const Profile twice = showing({race("out", RaceScope::Block), race("out", RaceScope::Block)});
    EXPECT_EQ(added(once, twice), 0u);
    EXPECT_EQ(added(once, twice, true), 2u);
}

TEST(NewMissedBarriers, AreThoseOfAKernelThatMissedNone) {
    Hazard missed;
    missed.kind = HazardKind::BarrierDivergence;
    missed.certain = false;
    EXPECT_EQ(newMissedBarriers({}, {missed, missed}).size(), 2u);
    EXPECT_EQ(newMissedBarriers({race("out", RaceScope::Block)}, {missed}).size(), 1u);
    EXPECT_TRUE(newMissedBarriers({missed}, {missed, missed}).empty());
    EXPECT_TRUE(newMissedBarriers({}, {race("out", RaceScope::Block)}).empty());
}

} // namespace
} // namespace kernelskill::engine
