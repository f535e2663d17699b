#include "engine/static_facts/device_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

std::vector<std::string> optionsOf(const std::vector<std::string>& arguments) {
    return nvrtcOptions(analysis::translateArguments(arguments, "/project"), {"/cuda/include"});
}

TEST(NvrtcOptions, KeepWhatChangesTheCode) {
    const auto options = optionsOf({"-DN=4", "-UDEBUG", "-Iinclude", "-use_fast_math", "-rdc=true",
                                    "-maxrregcount=32", "--fmad=false", "-Xptxas", "-O1,-v",
                                    "-std=c++20", "-prec-div=false", "kernel.cu"});
    EXPECT_THAT(options,
                IsSupersetOf({"-std=c++20", "-DN=4", "-UDEBUG", "-I/project/include",
                              "--use_fast_math", "--relocatable-device-code=true",
                              "--maxrregcount=32", "--fmad=false", "--prec-div=false",
                              "--ptxas-options=-O1", "--ptxas-options=-v", "-I/cuda/include"}));
}

TEST(NvrtcOptions, LeaveOutWhatDoesNot) {
    const auto options =
        optionsOf({"-Xcompiler", "-Wall", "-o", "kernel.o", "-t", "4", "kernel.cu"});
    for (const auto* word : {"Wall", "kernel", "-t", "fast"})
        EXPECT_THAT(options, Not(Contains(HasSubstr(word)))) << word;
}

TEST(NvrtcOptions, SpellStandardsThatNvrtcKnows) {
    EXPECT_THAT(optionsOf({}), Contains("-std=c++17"));
    EXPECT_THAT(optionsOf({"-std=gnu++14"}), Contains("-std=c++14"));
    EXPECT_THAT(optionsOf({"-std=c++2b"}), Contains("-std=c++20"));
}

TEST(NvccOptions, AreTheUsersOwnWhereTheyAreKnown) {
    const auto options =
        nvccOptions(analysis::translateArguments({"-DN=4", "-maxrregcount=40", "-ccbin", "g++-12",
                                                  "--fmad=false", "-rdc=true", "-isystem", "lib"},
                                                 "/project"));
    EXPECT_THAT(options, IsSupersetOf({"-cubin", "--ptxas-options=-v", "-DN=4", "--maxrregcount=40",
                                       "--fmad=false", "--relocatable-device-code=true", "-ccbin",
                                       "g++-12", "-isystem", "/project/lib"}));
}

} // namespace
} // namespace kernelskill::engine
