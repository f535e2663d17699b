#include "engine/replay/cubin_symbols.h"
#include "tests/engine/replay/cubin_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

namespace kernelskill::engine {
namespace {

using testing::CubinImage;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Result<CubinSymbols> read(const std::string& image) {
    return cubinSymbols(std::as_bytes(std::span(image)));
}

TEST(CubinSymbols, FindsVariablesAndWhatKernelsCall) {
    CubinImage image;
    image.kernels = {{"quiet", {}}, {"loud", {"vprintf", "malloc"}}, {"checks", {"__assertfail"}}};
    image.variables = {{"table", 400}, {"count", 4}, {"shared", 8, true}};
    const auto symbols = read(imageOf(image));
    ASSERT_TRUE(symbols);
    EXPECT_THAT(symbols->variables,
                ElementsAre(CubinVariable{"table", 400, false}, CubinVariable{"count", 4, false},
                            CubinVariable{"shared", 8, true}));
    ASSERT_EQ(symbols->kernels.size(), 3u);
    EXPECT_THAT(symbols->kernels.at("quiet"), IsEmpty());
    EXPECT_THAT(symbols->kernels.at("loud"), ElementsAre("malloc", "vprintf"));
    EXPECT_THAT(symbols->kernels.at("checks"), ElementsAre("__assertfail"));
}

TEST(CubinSymbols, RefusesOtherBytes) {
    EXPECT_FALSE(read(""));
    EXPECT_FALSE(read("// some PTX"));
    EXPECT_FALSE(read(std::string(200, '\0')));
}

TEST(CubinSymbols, StaysInsideOfTheImage) {
    CubinImage image;
    image.kernels = {{"k", {"vprintf"}}};
    image.variables = {{"v", 4}};
    const std::string whole = imageOf(image);
    for (std::size_t length = 0; length < whole.size(); ++length)
        static_cast<void>(read(whole.substr(0, length)));
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const char value : {'\0', '\x7f', '\xff'}) {
            std::string damaged = whole;
            damaged[at] = value;
            static_cast<void>(read(damaged));
        }
    }
}

} // namespace
} // namespace kernelskill::engine
