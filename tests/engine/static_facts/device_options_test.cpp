#include "engine/static_facts/device_options.h"
#include "engine/static_facts/static_facts.h"

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
    const auto options = nvccOptions(analysis::translateArguments(
        {"-DN=4", "-maxrregcount=40", "--fmad=false", "-rdc=true", "-isystem", "lib"}, "/project"));
    EXPECT_THAT(options, IsSupersetOf({"-cubin", "--ptxas-options=-v", "-DN=4", "--maxrregcount=40",
                                       "--fmad=false", "--relocatable-device-code=true", "-isystem",
                                       "/project/lib"}));
}

/// Flags come from a workspace's compile_commands.json. nvcc runs what -ccbin names, and what its
/// shell finds between backticks.
TEST(NvccOptions, NameNoProgram) {
    const std::vector<std::vector<std::string>> attempts = {
        {"-ccbin", "/evil.sh"},
        {"-ccbin=/evil.sh"},
        {"--compiler-bindir", "/evil.sh"},
        {"--compiler-bindir=/evil.sh"},
        {"-fplugin=/evil.sh"},
        {"-B", "/evil.sh"},
        {"-B/evil.sh"},
        {"-wrapper", "/evil.sh"},
        {"-specs=/evil.sh"},
        {"--specs", "/evil.sh"},
        {"-fuse-ld=/evil.sh"},
        {"-Xcompiler", "-fplugin=/evil.sh"},
        {"-Xcompiler", "-B/evil.sh,-wrapper,/evil.sh"},
        {"-Xcompiler=-specs=/evil.sh"},
        {"-Xptxas", "--options-file=/evil.sh"},
        {"-Xptxas", "-o,/evil.sh"},
        {"-Xptxas", "'-O3 -o /evil.sh'"},
        {"-Xptxas=--output-file=/evil.sh"},
        {"-Xlinker", "-plugin=/evil.sh"},
        {"-Xclang", "-load", "-Xclang", "/evil.sh"},
        {"-Xcudafe", "/evil.sh"},
        {"-Xnvlink", "--options-file=/evil.sh"},
        {"-Xfatbin", "/evil.sh"},
        {"--run"},
        {"-run", "--run-args", "/evil.sh"},
        {"-dryrun"},
        {"--use-local-env"},
        {"--libdevice-directory", "/evil.sh"},
        {"-ldir", "/evil.sh"},
        {"-odir", "/evil.sh"},
        {"-o", "/evil.sh"},
        {"--keep-dir=/evil.sh"},
        {"--archiver-binary=/evil.sh"},
        {"-maxrregcount", "1;/evil.sh"},
        {"-maxrregcount=`/evil.sh`"},
        {"-std=c++17`/evil.sh`"},
        {"-arch=sm_80`/evil.sh`"},
        {"-gencode", "arch=compute_80,code=sm_80`/evil.sh`"},
        {"-DA=`/evil.sh`"},
        {"-D", "A=$(/evil.sh)"},
        {"-D`/evil.sh`"},
        {"-DA=\\`/evil.sh`"},
        {"-DA=1\n/evil.sh"},
        {"-U`/evil.sh`"},
        {"-I`/evil.sh`"},
        {"-I", "a,$(/evil.sh)"},
        {"-isystem", "`/evil.sh`"},
        {"-Xcompiler", "-DA=`/evil.sh`"},
        {"-Xcompiler", "-I$(/evil.sh)"},
        {"--fmad=`/evil.sh`"},
        {"/evil.sh"},
        {"@/evil.sh"},
        {"--options-file", "/evil.sh"},
        {"-optf=/evil.sh"},
    };
    for (const auto& attempt : attempts) {
        const auto command = analysis::translateArguments(attempt, "/project");
        for (const auto& options : {nvccOptions(command), nvrtcOptions(command, {})}) {
            EXPECT_THAT(options, Not(Contains(HasSubstr("evil")))) << attempt.front();
            EXPECT_THAT(options, Not(Contains(HasSubstr("run")))) << attempt.front();
            EXPECT_THAT(options, Not(Contains("-ccbin"))) << attempt.front();
        }
        EXPECT_EQ(targetArchitecture(command, "sm_90").find('`'), std::string::npos);
    }
}

} // namespace
} // namespace kernelskill::engine
