#include "analysis/command/compile_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kernelskill::analysis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

CompileCommand translate(const std::vector<std::string>& arguments) {
    return translateArguments(arguments, "/project");
}

TEST(NvccArguments, EverySpellingOfGencodeNamesTheArchitecture) {
    EXPECT_THAT(translate({"-gencode", "arch=compute_80,code=sm_80"}).architectures,
                ElementsAre("sm_80"));
    EXPECT_THAT(translate({"-gencode=arch=compute_80,code=[sm_80,compute_80]"}).architectures,
                ElementsAre("sm_80"));
    EXPECT_THAT(translate({"--generate-code=arch=compute_90a,code=\"sm_90a,sm_90\""}).architectures,
                ElementsAre("sm_90a", "sm_90"));
    EXPECT_THAT(translate({"--generate-code", "arch=compute_70,code=compute_70"}).architectures,
                ElementsAre("sm_70"));
}

TEST(NvccArguments, ArchitectureNamesWithoutANumberNameNone) {
    for (const char* name : {"native", "all", "all-major"})
        EXPECT_THAT(translate({std::string("-arch=") + name}).architectures, IsEmpty());
    EXPECT_THAT(translate({"-arch", "sm_86"}).architectures, ElementsAre("sm_86"));
    EXPECT_THAT(translate({"--gpu-architecture=compute_75", "-code=sm_75"}).architectures,
                ElementsAre("sm_75"));
}

TEST(NvccArguments, DefinitionsAndIncludesInEveryForm) {
    const CompileCommand command =
        translate({"-DA", "-D", "B=2", "-DC=f(1,2)", "-UD", "-Iinc", "-I", "/abs", "-isystem",
                   "sys", "-isystem=other", "--include-path=one,two", "-include", "first.h"});
    EXPECT_THAT(command.definitions, ElementsAre("A", "B=2", "C=f(1,2)"));
    EXPECT_THAT(command.undefinitions, ElementsAre("D"));
    EXPECT_THAT(command.includeDirs,
                ElementsAre("/project/inc", "/abs", "/project/one", "/project/two"));
    EXPECT_THAT(command.systemIncludeDirs, ElementsAre("/project/sys", "/project/other"));
    EXPECT_THAT(command.forcedIncludes, ElementsAre("first.h"));
}

TEST(NvccArguments, HostCompilerOptionsAreUnpacked) {
    const CompileCommand command =
        translate({"-Xcompiler", "-Wall,-fopenmp,-DHOST=1", "--compiler-options",
                   "'-O3 -march=native'", "-Xcompiler=-fPIC"});
    EXPECT_THAT(command.hostFlags, ElementsAre("-fopenmp", "-march=native"));
    EXPECT_THAT(command.definitions, ElementsAre("HOST=1"));
}

TEST(NvccArguments, ModesAreUnderstood) {
    const CompileCommand command =
        translate({"-rdc=true", "--use_fast_math", "--expt-relaxed-constexpr", "--extended-lambda",
                   "-std=c++20"});
    EXPECT_TRUE(command.relocatableDeviceCode);
    EXPECT_TRUE(command.fastMath);
    EXPECT_TRUE(command.relaxedConstexpr);
    EXPECT_TRUE(command.extendedLambda);
    EXPECT_EQ(command.standard, "c++20");
    EXPECT_FALSE(translate({"-rdc", "false"}).relocatableDeviceCode);
    EXPECT_TRUE(translate({"-dc"}).relocatableDeviceCode);
}

TEST(NvccArguments, OptionsWithValuesSwallowThem) {
    const CompileCommand command = translate(
        {"-Xptxas", "-v", "-Xcudafe", "--diag_suppress=20012", "-ccbin", "g++-12", "-maxrregcount",
         "64", "-o", "out.o", "-MF", "out.d", "-t", "4", "-x", "cu", "-lineinfo", "-DLAST"});
    EXPECT_THAT(command.definitions, ElementsAre("LAST"));
    EXPECT_THAT(command.ignored, Contains("-lineinfo"));
    EXPECT_THAT(command.ignored, Contains("-Xptxas -v"));
    EXPECT_THAT(command.ignored, Not(Contains("64")));
}

TEST(NvccArguments, WhatCouldRunAProgramIsLeftOutWithANote) {
    using ::testing::HasSubstr;
    const CompileCommand command =
        translate({"-ccbin", "/evil.sh", "-Xcompiler", "-fplugin=evil.so,-Wall", "-Xptxas",
                   "-O1,--options-file=evil", "-DA=`evil`", "-DKEPT", "--no-such-option"});
    EXPECT_THAT(command.notes,
                ElementsAre(HasSubstr("'-ccbin /evil.sh' is left out"),
                            HasSubstr("'-Xcompiler -fplugin=evil.so' is left out"),
                            HasSubstr("'-Xptxas --options-file=evil' is left out"),
                            HasSubstr("'-D A=`evil`' is left out"),
                            HasSubstr("'--no-such-option' is left out: it is not known")));
    EXPECT_THAT(command.definitions, ElementsAre("KEPT"));
    EXPECT_THAT(command.codeOptions, ElementsAre("--ptxas-options=-O1"));
}

TEST(NvccArguments, WhatProjectsUseGivesNoNote) {
    const CompileCommand command = translate({"-forward-unknown-to-host-compiler",
                                              "-O3",
                                              "-DNDEBUG",
                                              "-std=c++17",
                                              "-arch=native",
                                              "-Xcompiler=-fPIC",
                                              "-Xcompiler",
                                              "-Wall,-Wextra,-fvisibility=hidden,-mtune=native",
                                              "-lineinfo",
                                              "-g",
                                              "-G",
                                              "-MD",
                                              "-MT",
                                              "a.o",
                                              "-MF",
                                              "a.d",
                                              "-x",
                                              "cu",
                                              "-c",
                                              "a.cu",
                                              "-o",
                                              "a.o",
                                              "-Xcudafe",
                                              "--diag_suppress=20012",
                                              "--expt-relaxed-constexpr",
                                              "-lcublas",
                                              "-L/usr/lib",
                                              "-Wl,-rpath,/usr/lib",
                                              "-ffile-prefix-map=/a=/b",
                                              "--ptxas-options=-v",
                                              "-Xptxas",
                                              "-O3,-dlcm=cg",
                                              "--maxrregcount=64",
                                              "-rdc=true",
                                              "--threads=4",
                                              "-w",
                                              "-m64"});
    EXPECT_THAT(command.notes, IsEmpty());
}

TEST(NvccArguments, OptionFilesAreReadAndMayNest) {
    const auto folder = std::filesystem::path(::testing::TempDir()) / "kernelskill_options";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "outer.rsp") << "-DOUTER --options-file inner.rsp\n";
    std::ofstream(folder / "inner.rsp") << "-DINNER=\"a b\"\n@outer.rsp";
    const CompileCommand command = translateArguments({"--options-file", "outer.rsp"}, folder);
    EXPECT_THAT(command.definitions, Contains("INNER=a b"));
    EXPECT_THAT(translateArguments({"@missing.rsp"}, folder).ignored,
                ElementsAre("--options-file missing.rsp"));
    std::filesystem::remove_all(folder);
}

} // namespace
} // namespace kernelskill::analysis
