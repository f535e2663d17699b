#include "engine/execution/emulator/compile/host_compiler.h"
#include "engine/execution/emulator/compile/line_table.h"
#include "engine/execution/emulator/emulation_image.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::TemporaryFolder;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class EmulationImageTest : public ::testing::Test {
protected:
    void SetUp() override {
        options_.hostCompiler = findHostCompiler({}).value();
        options_.preludeInclude =
            std::filesystem::path(paths::sourceFolder) / "analysis/prelude/include";
        options_.cacheDirectory = folder_.path() / "cache";
    }

    ProgramSource programOf(const std::string& text) const {
        ProgramSource program;
        program.file = (folder_.path() / "a.cu").string();
        program.text = text;
        program.command.directory = folder_.path();
        return program;
    }

    /// The kernel called "k" of `program`, as far as building an image needs it.
    static analysis::KernelModel kernelOf(const ProgramSource& program,
                                          const std::string& qualified = "k") {
        analysis::KernelModel kernel;
        kernel.name = "k";
        kernel.qualifiedName = qualified;
        kernel.file = program.file;
        const auto at = static_cast<std::uint32_t>(program.text.find(" k(") + 1);
        kernel.nameSpan = {at, at + 1};
        return kernel;
    }

    Result<EmulationImage> build(const std::string& text, LaunchSpec launch = {},
                                 const std::string& qualified = "k") {
        const auto program = programOf(text);
        return buildEmulationImage({program, kernelOf(program, qualified)}, launch, options_, {});
    }

    TemporaryFolder folder_;
    ImageOptions options_;
};

TEST_F(EmulationImageTest, aKernelBuildsWithItsProgramAroundIt) {
    const auto image = build(
        "#include <iostream>\n#include <vector>\n#include <nonexistent.h>\n"
        "__global__ void k(float* x, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) x[i] *= 2;\n}\n"
        "int main() { std::vector<float> v; k<<<1, 1>>>(nullptr, 0); std::cout << v.size(); }\n");
    ASSERT_TRUE(image) << image.error().describe();
    EXPECT_TRUE(std::filesystem::exists(image->sharedObject));
}

TEST_F(EmulationImageTest, templatesNamespacesAndOwnTypesAsArguments) {
    LaunchSpec launch;
    launch.templateArguments = {"Double", "4"};
    const auto image = build("namespace a { namespace b {\nstruct Double { __device__ float "
                             "operator()(float x) { return 2 * x; } };\n"
                             "struct Box { float v; Box() { printf(\"host\"); } };\n"
                             "template <typename F, int N> __global__ void k(float* x) { "
                             "x[threadIdx.x] = F()(x[N]); }\n} }\n",
                             launch, "a::b::k");
    ASSERT_TRUE(image) << image.error().describe();
}

TEST_F(EmulationImageTest, aKernelMayHaveTheNameOfAFunctionOfTheLibrary) {
    for (const std::string name : {"norm", "log", "index", "y0"}) {
        const auto program =
            programOf("__global__ void " + name + "(float* x, int n) { if (n > 0) x[0] = 1; }\n");
        analysis::KernelModel kernel;
        kernel.name = kernel.qualifiedName = name;
        kernel.file = program.file;
        const auto at = static_cast<std::uint32_t>(program.text.find(name));
        kernel.nameSpan = {at, at + static_cast<std::uint32_t>(name.size())};
        kernel.parameters.resize(2);
        kernel.parameters[0].type.spelling = "float *";
        kernel.parameters[1].type.spelling = "int";
        const auto image = buildEmulationImage({program, kernel}, {}, options_, {});
        EXPECT_TRUE(image) << image.error().describe();
    }
}

TEST_F(EmulationImageTest, macrosOfTheUserDoNotReachTheEntry) {
    const auto image = build("#define kernel 1\n#define count 2\n#define names 3\n#define run(x) "
                             "x\n#define arguments 4\n"
                             "__constant__ float taps[4];\n"
                             "__global__ void k(float* x) { x[0] = count + taps[1]; }\n");
    EXPECT_TRUE(image) << image.error().describe();
}

TEST_F(EmulationImageTest, aHeaderOfTheProjectMayBeNamedByItsWholePath) {
    const auto header = folder_.path() / "h.cuh";
    std::ofstream(header) << "__device__ inline int fromHeader() { return 7; }\n";
    const auto image = build("#include \"" + header.string() +
                             "\"\n__global__ void k(int* x) { x[0] = fromHeader(); }\n");
    EXPECT_TRUE(image) << image.error().describe();
}

TEST_F(EmulationImageTest, unsavedHeadersWinOverTheDisk) {
    std::ofstream(folder_.path() / "h.cuh") << "#error stale\n";
    auto program =
        programOf("#include \"h.cuh\"\n__global__ void k(int* x) { x[0] = fromHeader(); }\n");
    program.unsaved[(folder_.path() / "h.cuh").string()] =
        "#pragma once\n__device__ int fromHeader() { return 7; }\n";
    const auto image = buildEmulationImage({program, kernelOf(program)}, {}, options_, {});
    EXPECT_TRUE(image) << image.error().describe();
}

TEST_F(EmulationImageTest, aHostConstantThatTheFirstSliceMissedIsFound) {
    const auto image = build(
        "int table() { return 3; }\n__global__ void k(int* x) { x[0] = decltype(table()){1}; }\n");
    EXPECT_TRUE(image) << image.error().describe();
}

TEST_F(EmulationImageTest, aMacroOfASystemHeaderThatAnErrorDirectiveAsksForIsFound) {
    const auto image = build("#include <unistd.h>\n"
                             "#if _POSIX_VERSION >= 200112L\ntypedef unsigned long long Time;\n"
                             "#else\n#error \"no clock\"\n#endif\n"
                             "__global__ void k(Time* x) { x[0] = 1; }\n");
    ASSERT_TRUE(image) << image.error().describe();
}

TEST_F(EmulationImageTest, anErrorOfTheKernelCarriesItsLine) {
    const auto image = build("__global__ void k(int* x) {\n\n  x[0] = undefinedThing;\n}\n");
    ASSERT_FALSE(image);
    EXPECT_EQ(image.error().kind, ErrorKind::Failed);
    EXPECT_THAT(image.error().what, HasSubstr("undefinedThing"));
    EXPECT_THAT(image.error().where, EndsWith("a.cu:3"));
}

TEST_F(EmulationImageTest, anErrorThatNoHeaderCuresIsCompiledAtMostTwice) {
    ASSERT_FALSE(build("struct A { int v; };\n"
                       "__global__ void k(int* x) {\n  x[0] = A{1} + A{2};\n}\n"));
    const auto failures =
        std::ranges::count_if(std::filesystem::directory_iterator(options_.cacheDirectory),
                              [](const auto& item) { return item.path().extension() == ".log"; });
    EXPECT_LE(failures, 2);
}

TEST_F(EmulationImageTest, aFunctionDefinedElsewhereIsReported) {
    const auto image = build("__device__ float elsewhere(float);\n__global__ void k(float* x) { "
                             "x[0] = elsewhere(1); }\n");
    ASSERT_FALSE(image);
    EXPECT_THAT(image.error().what, HasSubstr("elsewhere"));
    EXPECT_THAT(image.error().where, EndsWith("a.cu:2"));
}

TEST_F(EmulationImageTest, aLibraryThatIsNotThereIsRefusedByNameAndLine) {
    const auto image =
        build("#include <cub/cub.cuh>\n__global__ void k(float* x) {\n"
              "  using Reduce = cub::BlockRedux<float, 128>;\n  x[0] = Reduce().sum(x[0]);\n}\n");
    ASSERT_FALSE(image);
    EXPECT_EQ(image.error().kind, ErrorKind::Unsupported);
    EXPECT_THAT(image.error().what, HasSubstr("cub"));
    EXPECT_THAT(image.error().where, EndsWith("a.cu:3"));
}

TEST_F(EmulationImageTest, theSameTextIsCompiledOnce) {
    const std::string text = "__global__ void k(float* x) { x[0] = 1; }\n";
    const auto first = build(text);
    ASSERT_TRUE(first) << first.error().describe();
    options_.compileTime = std::chrono::milliseconds(0); // a second compile would time out
    const auto second = build(text + "int main() { }\n");
    ASSERT_TRUE(second) << second.error().describe();
    EXPECT_EQ(first->sharedObject, second->sharedObject);
    EXPECT_FALSE(build("__global__ void k(float* x) { x[0] = 2; }\n"));
}

TEST_F(EmulationImageTest, thePreludeIsCompiledOnceForAllKernels) {
    ASSERT_TRUE(build("__global__ void k(float* x) { x[0] = 1; }\n"));
    ASSERT_TRUE(build("__global__ void k(float* x) { x[0] = 2; }\n"));
    const auto preludes =
        std::ranges::count_if(std::filesystem::directory_iterator(options_.cacheDirectory),
                              [](const auto& item) { return item.path().extension() == ".gch"; });
    EXPECT_EQ(preludes, takesPrecompiledPrelude(options_) ? 1 : 0);
}

TEST_F(EmulationImageTest, theCompiledPreludeIsReadInsteadOfItsText) {
    if (!takesPrecompiledPrelude(options_))
        GTEST_SKIP() << "clang reads no precompiled header by this name";
    const auto write = [&](std::string_view name, const std::string& text) {
        std::ofstream(folder_.path() / name) << text;
    };
    const auto flags = compilerFlags(options_, {}, {});
    write(preludeHeaderName, preludeHeaderText(options_));
    ASSERT_TRUE(precompilePrelude(folder_.path(), preludeFlags(options_, {}, {}), options_, {}));
    write(preludeHeaderName, "#error the text was read\n");
    write("prefix.h", "");
    write("unit.cpp", "__global__ void k(float* x) { x[0] = threadIdx.x; }\n");
    const auto outcome = compileImage({folder_.path(), flags, {}, {}, {}, {}}, options_, {});
    ASSERT_TRUE(outcome) << outcome.error().describe();
    EXPECT_TRUE(outcome->succeeded) << outcome->messages;
}

TEST_F(EmulationImageTest, divisionsByZeroAreCheckedWhereTheProgramAsks) {
    // Nothing needs the quotient.
    auto program =
        programOf("__global__ void k(int* x, int n) { int unused = 7 / n; x[0] = 1; }\n");
    const auto imageOf = [&] {
        const auto image = buildEmulationImage({program, kernelOf(program)}, {}, options_, {});
        EXPECT_TRUE(image) << image.error().describe();
        return image ? image->sharedObject : std::filesystem::path();
    };
    const auto unchecked = imageOf();
    program.checksDivisions = true;
    EXPECT_NE(imageOf(), unchecked) << "the cache keeps them apart";
    EXPECT_EQ(std::ranges::count(compilerFlags(options_, {}, {.divisions = true}),
                                 "-fsanitize=integer-divide-by-zero"),
              1);
}

TEST_F(EmulationImageTest, macrosThatHeadersOfThePreludeAskForAreHeard) {
    auto program = programOf("#include <assert.h>\n"
                             "__global__ void k(float* x) { assert(undeclared); x[0] = 1; }\n");
    EXPECT_FALSE(buildEmulationImage({program, kernelOf(program)}, {}, options_, {}));
    program.command.definitions = {"NDEBUG", "_GLIBCXX_ASSERTIONS"};
    const auto image = buildEmulationImage({program, kernelOf(program)}, {}, options_, {});
    EXPECT_TRUE(image) << image.error().describe();
}

TEST_F(EmulationImageTest, aHeaderOfTheUserWithANameOfThePreludesIsNotTakenForIt) {
    const auto header = folder_.path() / "prelude.h";
    std::ofstream(header) << "#define fromUser 7\n";
    auto program =
        programOf("#include \"prelude.h\"\n__global__ void k(int* x) { x[0] = fromUser; }\n");
    program.command.includeDirs = {folder_.path().string()};
    const auto image = buildEmulationImage({program, kernelOf(program)}, {}, options_, {});
    EXPECT_TRUE(image) << image.error().describe();
}

TEST_F(EmulationImageTest, theCacheStaysBelowItsBound) {
    options_.cacheBytes = 1;
    const auto image = build("__global__ void k(float* x) { x[0] = 1; }\n");
    ASSERT_TRUE(image);
    EXPECT_FALSE(std::filesystem::exists(image->sharedObject));
}

TEST_F(EmulationImageTest, aStopRequestEndsTheBuild) {
    std::stop_source source;
    source.request_stop();
    const auto program = programOf("__global__ void k(float* x) { x[0] = 1; }\n");
    const auto image =
        buildEmulationImage({program, kernelOf(program)}, {}, options_, source.get_token());
    ASSERT_FALSE(image);
    EXPECT_EQ(image.error().kind, ErrorKind::Cancelled);
}

/// Offset and size of ks_entry's neighbourhood is not known here: every address of the text that
/// maps to the file counts.
TEST_F(EmulationImageTest, addressesLeadBackToTheUsersLines) {
    const auto image = build(
        "__device__ float twice(float v) {\n  return v * 2;\n}\n"
        "__global__ void k(float* x) {\n  x[threadIdx.x] =\n      twice(x[threadIdx.x + 1]);\n}\n");
    ASSERT_TRUE(image) << image.error().describe();
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t offset = 0x1000; offset < 0x1400; ++offset)
        offsets.push_back(offset);
    const auto places = resolvePlaces(image->sharedObject, offsets, {});
    ASSERT_TRUE(places) << places.error().describe();
    ASSERT_EQ(places->size(), offsets.size());
    std::set<std::uint32_t> lines;
    for (const auto& place : *places) {
        if (!place.file.empty()) {
            EXPECT_EQ(place.file, (folder_.path() / "a.cu").string());
            lines.insert(place.line);
        }
    }
    EXPECT_TRUE(lines.contains(1)) << "the inlined function's own line";
    EXPECT_TRUE(lines.contains(4)) << "the store";
    EXPECT_TRUE(lines.contains(5)) << "the load";
}

TEST(HostCompiler, aWantedOneThatIsNotThereIsMissing) {
    const auto compiler = findHostCompiler("/nonexistent/g++");
    ASSERT_FALSE(compiler);
    EXPECT_EQ(compiler.error().kind, ErrorKind::Missing);
    EXPECT_FALSE(compiler.error().remedy.empty());
}

} // namespace
} // namespace kernelskill::engine
