// Kernels that try to get a file of the user into their image, or a program of theirs to run, while
// they are compiled for the CPU.
#include "analysis/source/files.h"
#include "engine/execution/emulator/compile/assembly_guard.h"
#include "engine/execution/emulator/compile/host_compiler.h"
#include "engine/execution/emulator/emulation_image.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using kernelskill::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view secretWord = "tops3cret4711";

struct Attempt {
    const char* name;
    /// Before the kernel, and in it. SECRET stands for the path of a file with the secret, LITERAL
    /// for that of one which is a string of C.
    std::string before;
    std::string inside = {};
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

class Escapes : public ::testing::TestWithParam<Attempt> {
protected:
    void SetUp() override {
        options_.hostCompiler = findHostCompiler({}).value();
        options_.preludeInclude = fs::path(paths::sourceFolder) / "analysis/prelude/include";
        options_.cacheDirectory = folder_.path() / "cache";
        options_.compileTime = std::chrono::seconds(60);
        std::ofstream(elsewhere_.path() / "secret") << secretWord << "\n";
        std::ofstream(elsewhere_.path() / "literal") << '"' << secretWord << "\"\n";
        fs::create_symlink(elsewhere_.path() / "literal", folder_.path() / "link.h");
        ::mkfifo((folder_.path() / "pipe.h").c_str(), 0600);
    }

    Result<EmulationImage> build(const Attempt& attempt) {
        std::string text = attempt.before + "\n__global__ void k(int* x) {\n" + attempt.inside +
                           "\n x[threadIdx.x] = 1;\n}\n";
        text = replaced(text, "SECRET", (elsewhere_.path() / "secret").string());
        text = replaced(text, "LITERAL", (elsewhere_.path() / "literal").string());
        ProgramSource program;
        program.file = (folder_.path() / "a.cu").string();
        program.text = text;
        program.command = analysis::translateArguments({}, folder_.path());
        analysis::KernelModel kernel;
        kernel.name = kernel.qualifiedName = "k";
        kernel.file = program.file;
        const auto at = static_cast<std::uint32_t>(text.find(" k(") + 1);
        kernel.nameSpan = {at, at + 1};
        return buildEmulationImage({program, kernel}, {}, options_, {});
    }

    /// The cached files that hold the secret.
    std::vector<std::string> leaks() const {
        std::vector<std::string> found;
        std::error_code error;
        for (const auto& item : fs::recursive_directory_iterator(folder_.path() / "cache", error)) {
            if (item.is_regular_file(error) &&
                analysis::readFile(item.path()).value_or("").find(secretWord) != std::string::npos)
                found.push_back(item.path().string());
        }
        return found;
    }

    TemporaryFolder folder_;
    TemporaryFolder elsewhere_;
    ImageOptions options_;
};

TEST_P(Escapes, GetNoFileIntoTheImage) {
    const auto image = build(GetParam());
    EXPECT_THAT(leaks(), ::testing::IsEmpty());
    if (!image)
        EXPECT_THAT(image.error().describe(), Not(HasSubstr(std::string(secretWord))));
}

const std::string hidden =
    "#define HIDDEN asm\n#define GLUE(a, b) a##b\n#define JOIN(a, b) GLUE(a, b)\n";

std::vector<Attempt> attempts() {
    std::vector<Attempt> all = {
        {"TopLevelAsm",
         hidden + R"(HIDDEN(".pushsection .rodata\n.incbin \"SECRET\"\n.popsection");)", ""},
        {"HiddenAsm", hidden, R"(HIDDEN volatile(".incbin \"SECRET\"");)"},
        {"PastedAsm", hidden, R"(GLUE(__as, m__) volatile(".incbin \"SECRET\"");)"},
        {"PastedTwice", hidden, R"(JOIN(GLUE(__, asm), __) volatile(".incbin \"SECRET\"");)"},
        {"NamedSection",
         R"(__device__ __attribute__((section(".rodata\n.incbin \"SECRET\"\n.section .data"))) int v = 1;)",
         "x[1] = v;"},
        {"SectionWithFlags",
         R"(__device__ __attribute__((section(".d,\"aw\"\n.incbin \"SECRET\"\n#"))) int v = 1;)",
         "x[1] = v;"},
        {"NamedSymbol", hidden + R"(extern "C" int v HIDDEN("v\n.incbin \"SECRET\"\n");)",
         "x[1] = v;"},
        {"Alias", R"(__device__ int __attribute__((alias("v\n.incbin \"SECRET\"\n"))) w;)",
         "x[1] = w;"},
        {"Visibility",
         R"(extern "C" __attribute__((weakref("v\n.incbin \"SECRET\""))) int w(void);)",
         "x[1] = w();"},
        {"Include", hidden, R"(HIDDEN(".include \"SECRET\"");)"},
        {"UpperCase", hidden, R"(HIDDEN(".INCBIN \"SECRET\"");)"},
        {"Semicolon", hidden, R"(HIDDEN("nop; .incbin \"SECRET\"");)"},
        {"Label", hidden, R"(HIDDEN("here: .incbin \"SECRET\"");)"},
        {"TwoLabels", hidden, R"(HIDDEN("a%=:b%=:.incbin \"SECRET\"");)"},
        {"QuotedLabel", hidden, R"(HIDDEN("\"a b\": .incbin \"SECRET\"");)"},
        {"Repetition", hidden, R"(HIDDEN(".irp y,bin\n.inc\\y \"SECRET\"\n.endr");)"},
        {"Characters", hidden, R"(HIDDEN(".irpc y,b\n.inc\\y\\()in \"SECRET\"\n.endr");)"},
        {"Macro", hidden, R"(HIDDEN(".macro m a\n.inc\\a \"SECRET\"\n.endm\nm bin");)"},
        {"Altmacro", hidden,
         R"(HIDDEN(".altmacro\n.macro m a\n.inc&a \"SECRET\"\n.endm\nm bin");)"},
        {"Comment", hidden, R"(HIDDEN("/* */ .incbin \"SECRET\"");)"},
        {"QuoteInComment", hidden, R"(HIDDEN("/* \" */ .incbin \"SECRET\" /* \" */");)"},
        {"CharacterConstant", hidden, R"(HIDDEN(".byte '\" ; .incbin \"SECRET\" ; .byte '\"");)"},
        {"CarriageReturn", hidden, R"(HIDDEN("nop\r.incbin \"SECRET\"");)"},
        {"FormFeed", hidden, R"(HIDDEN("\f.incbin \"SECRET\"");)"},
        {"EndOfInline", hidden, R"(HIDDEN("\n#NO_APP\n.incbin \"SECRET\"\n#APP\n");)"},
        {"OtherSyntax", hidden, R"(HIDDEN(".intel_syntax noprefix\n.incbin \"SECRET\"");)"},
        {"LineContinued", hidden, R"(HIDDEN(".string \"a\n.incbin \\\"SECRET\\\"\n\"");)"},
        {"SwitchedOff", hidden, R"(HIDDEN(".if 1\n.incbin \"SECRET\"\n.endif");)"},
        {"Embed", "__device__ const char v[] = {\n#embed \"SECRET\"\n};", "x[1] = v[2];"},
        {"EmbedLimited", "__device__ const char v[] = {\n#embed \"SECRET\" limit(9)\n};",
         "x[1] = v[2];"},
        {"IncludedLiteral", "__device__ const char v[] =\n#include \"LITERAL\"\n;",
         "x[1] = v[x[0]];"},
        {"IncludedByMacro",
         "#define FILE \"LITERAL\"\n__device__ const char v[] =\n#include FILE\n;",
         "x[1] = v[x[0]];"},
        {"IncludedInside", "", "const char v[] =\n#include \"LITERAL\"\n; x[1] = v[x[0]];"},
        {"IncludedBySystem", "__device__ const char v[] =\n#include <../../../../../../LITERAL>\n;",
         "x[1] = v[x[0]];"},
        {"IncludedLink", "__device__ const char v[] =\n#include \"link.h\"\n;", "x[1] = v[x[0]];"},
        {"IncludedNext", "__device__ const char v[] =\n#include_next \"LITERAL\"\n;",
         "x[1] = v[x[0]];"},
        {"Imported", "__device__ const char v[] =\n#import \"LITERAL\"\n;", "x[1] = v[x[0]];"},
        {"IncludedThroughProc",
         "__device__ const char v[] =\n#include \"/proc/self/rootLITERAL\"\n;", "x[1] = v[x[0]];"},
        {"Environment", "#include \"/proc/self/environ\"", ""},
        {"Pragma", "#pragma GCC pch_preprocess \"SECRET\"", ""},
        {"Dependency", "#pragma GCC dependency \"SECRET\"", ""},
        {"Lto",
         R"(__device__ __attribute__((section(".gnu.lto_.opts,\"e\",@progbits#"))) char v[] = "'-fplugin=SECRET'";)",
         "x[1] = v[x[0]];"},
        {"DependentLibrary",
         R"(__device__ __attribute__((section(".deplibs,\"MS\",@llvm_dependent_libraries,1#"))) char v[] = "SECRET";)",
         "x[1] = v[x[0]];"},
    };
    return all;
}

INSTANTIATE_TEST_SUITE_P(Attempts, Escapes, ::testing::ValuesIn(attempts()),
                         [](const auto& attempt) { return std::string(attempt.param.name); });

/// Text that keeps a compiler busy for ever, or makes it take all memory.
class Bombs : public Escapes {};

TEST_P(Bombs, AreStopped) {
    const auto began = std::chrono::steady_clock::now();
    options_.compileTime = std::chrono::seconds(8);
    const auto image = build(GetParam());
    EXPECT_FALSE(image);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
    std::uintmax_t bytes = 0;
    std::error_code error;
    for (const auto& item : fs::recursive_directory_iterator(folder_.path() / "cache", error)) {
        const bool isPrelude = item.path().extension() == precompiledSuffix;
        bytes += !isPrelude && item.is_regular_file(error) ? item.file_size(error) : 0;
    }
    EXPECT_LT(bytes, 16u << 20) << "nothing of it is kept";
}

INSTANTIATE_TEST_SUITE_P(
    Texts, Bombs,
    ::testing::Values(
        Attempt{"LargeArray", "__device__ char v[1ull << 33] = {1};", "x[1] = v[x[0]];"},
        Attempt{"LargeImage", "__device__ char v[1ull << 30] = {1};", "x[1] = v[x[0]];"},
        Attempt{
            "TemplateRecursion",
            "template <int a, int b> struct f { enum { v = f<a - 1, b>::v + f<a, b - 1>::v }; };\n"
            "template <int a> struct f<a, 0> { enum { v = f<a - 1, 850>::v }; };\n"
            "template <int b> struct f<0, b> { enum { v = b }; };\n",
            "x[1] = f<850, 850>::v;"},
        Attempt{
            "ExponentialTemplates",
            "template <class T, int n> struct g { g<g<T, 0>, n - 1> a; g<g<T, 1>, n - 1> b; };\n"
            "template <class T> struct g<T, 0> { T a, b; };\n"
            "template <class T> struct g<T, 1> { T a, b, c; };\n",
            "x[1] = sizeof(g<int, 40>);"},
        Attempt{
            "MacroBomb",
            "#define A x[0] += 1;\n#define B A A A A A A A A A A\n#define C B B B B B B B B B B\n"
            "#define D C C C C C C C C C C\n#define E D D D D D D D D D D\n"
            "#define F E E E E E E E E E E\n#define G F F F F F F F F F F\n"
            "#define H G G G G G G G G G G\n",
            "H"},
        Attempt{"EndlessFile", "#include \"/dev/zero\"", ""},
        Attempt{"EndlessRandomFile", "#include \"/dev/urandom\"", ""},
        Attempt{"Pipe", "#define NAME(x) #x\n#include NAME(pipe.h)", ""}),
    [](const auto& attempt) { return std::string(attempt.param.name); });

TEST(ForeignAssembly, IsWhatNoCompilerWrites) {
    EXPECT_EQ(foreignAssembly("\t.file\t\"a.cu\"\n\t.text\n.L1:\n\tmovl $1, %eax\n#APP\n"
                              "# 5 \"a.h\" 1\n\t# ks_operation fma\n# 0 \"\" 2\n#NO_APP\n"
                              "\t.section .rodata,\"a\"\n\t.string \"; .incbin \\\"x\\\"\"\n"
                              ".Lset = .L1 - .L2\n\t.cfi_endproc\n"),
              std::nullopt);
    EXPECT_EQ(foreignAssembly("\tmovl $1, %eax ; .incbin \"x\"\n"), "the directive '.incbin'");
    EXPECT_EQ(foreignAssembly("a: \"b c\" : .InClude \"x\"\n"), "the directive '.include'");
    EXPECT_EQ(foreignAssembly("#APP\n\tmov $1, %eax\n#NO_APP\n"), "inline assembly");
    EXPECT_EQ(foreignAssembly("#APP\n\t.loc 1 3 ; mov $1, %eax\n#NO_APP\n"), "inline assembly");
    // g++ writes labels and line numbers before it ends the region.
    EXPECT_EQ(foreignAssembly("#APP\n# 3 \"a.cu\" 1\n\t# ks_operation sfu\n# 0 \"\" 2\n"
                              "\t.loc 1 3 44 discriminator 3 view .LVU10\n.LVL5:\n#NO_APP\n"),
              std::nullopt);
    EXPECT_EQ(foreignAssembly(".string \"abc\n"), "a string without an end");
    EXPECT_EQ(foreignAssembly("\t.section .gnu.lto_.opts,\"e\"\n"), "the section '.gnu.lto_.opts'");
}

} // namespace
} // namespace kernelskill::engine
