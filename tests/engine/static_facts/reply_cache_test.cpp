#include "engine/static_facts/reply_cache.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::TemporaryFolder;

TEST(ReplyCache, KeepsWhatItIsGiven) {
    const TemporaryFolder folder;
    const ReplyCache cache(folder.path() / "facts");
    EXPECT_FALSE(cache.find("a"));
    cache.store("a", "first");
    cache.store("b", "other");
    cache.store("a", "second");
    EXPECT_EQ(cache.find("a"), "second");
    EXPECT_EQ(ReplyCache(folder.path() / "facts").find("b"), "other");
}

TEST(ReplyCache, DoesWithoutAFolder) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "file") << "in the way";
    const ReplyCache cache(folder.path() / "file" / "facts");
    cache.store("a", "text");
    EXPECT_FALSE(cache.find("a"));
}

} // namespace
} // namespace kernelskill::engine
