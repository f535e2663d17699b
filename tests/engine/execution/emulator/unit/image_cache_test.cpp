#include "engine/execution/emulator/compile/image_cache.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <chrono>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::TemporaryFolder;

TEST(ImageCache, BelievesAFailureOnlyForAWhile) {
    const TemporaryFolder folder;
    const ImageCache cache(folder.path(), 1 << 20);
    EXPECT_FALSE(cache.failure("key"));
    cache.storeFailure("key", "unit.cpp:1: error: no");
    EXPECT_EQ(cache.failure("key"), "unit.cpp:1: error: no");
    std::filesystem::last_write_time(folder.path() / "key.log",
                                     std::filesystem::file_time_type::clock::now() -
                                         std::chrono::hours(1));
    EXPECT_FALSE(cache.failure("key"));
}

} // namespace
} // namespace kernelskill::engine
