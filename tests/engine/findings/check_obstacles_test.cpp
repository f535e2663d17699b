#include "engine/findings/check_obstacles.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

Error because(const char* what) {
    return {ErrorKind::Unsupported, what, "", ""};
}

TEST(CheckObstacles, AreKnownByTheTextUntilARunSucceeds) {
    CheckObstacles obstacles;
    obstacles.note(7, because("textures"));
    obstacles.note(7, because("surfaces"));
    ASSERT_TRUE(obstacles.find(7));
    EXPECT_EQ(obstacles.find(7)->what, "surfaces");
    EXPECT_FALSE(obstacles.find(8));
    obstacles.forget(7);
    obstacles.forget(8);
    EXPECT_FALSE(obstacles.find(7));
}

TEST(CheckObstacles, KeepTheLatest) {
    CheckObstacles obstacles;
    for (std::uint64_t hash = 0; hash < 2000; ++hash)
        obstacles.note(hash, because("textures"));
    EXPECT_FALSE(obstacles.find(0));
    EXPECT_TRUE(obstacles.find(1999));
}

} // namespace
} // namespace kernelskill::engine
