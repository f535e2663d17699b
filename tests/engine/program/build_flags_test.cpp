#include "engine/program/build_flags.h"
#include "engine/program/command_words.h"

#include <gmock/gmock.h>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BuildFlags, AreThoseOfNvcc) {
    const auto flags = [](std::string_view line) { return nvccFlagsOf(commandWords(line)); };
    EXPECT_THAT(flags("nvcc -O3 -I include -DN=4 src/a.cu b.o -o a -lcublas"),
                ElementsAre("-O3", "-I", "include", "-DN=4", "-lcublas"));
    EXPECT_THAT(
        flags("cd src && PATH=$PATH:/x /usr/local/cuda/bin/nvcc \"-DTEXT=a b\" a.cu && make"),
        ElementsAre("-DTEXT=a b"));
    EXPECT_THAT(flags("make -j8 NVCC=nvcc"), IsEmpty());
    EXPECT_THAT(flags(""), IsEmpty());
}

} // namespace
} // namespace kernelskill::engine
