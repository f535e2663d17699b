#include "lsp-server/protocol/uri.h"

#include <gtest/gtest.h>

namespace kernelskill::lsp {
namespace {

TEST(Uri, GoesBackAndForth) {
    for (const char* path : {"/home/a b/kernel.cu", "/ü/100%/x#1?.cu", "/plain/path.cuh"})
        EXPECT_EQ(pathFromUri(uriFromPath(path)), std::filesystem::path(path));
}

TEST(Uri, DecodesWhatEditorsEscape) {
    EXPECT_EQ(pathFromUri("file:///a%20b/c%2B%2B.cu"), std::filesystem::path("/a b/c++.cu"));
    EXPECT_EQ(pathFromUri("file://localhost/x.cu"), std::filesystem::path("/x.cu"));
    EXPECT_EQ(pathFromUri("file:///a/%zz"), std::filesystem::path("/a/%zz"));
}

TEST(Uri, RefusesWhatIsNotAFile) {
    EXPECT_FALSE(pathFromUri("untitled:Untitled-1"));
    EXPECT_FALSE(pathFromUri("file://"));
    EXPECT_FALSE(pathFromUri("file:///a%00b"));
    EXPECT_FALSE(pathFromUri(""));
}

} // namespace
} // namespace kernelskill::lsp
