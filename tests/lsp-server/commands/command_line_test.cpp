#include "analysis/source/program_search.h"
#include "tests/lsp-server/features/sample_files.h"
#include "tests/lsp-server/lsp_client.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CommandLine : public ::testing::Test {
protected:
    json runJson(std::vector<std::string> arguments, int status) {
        arguments.emplace_back("--json");
        const CommandResult result = runKernelskill(arguments, workspace.path());
        EXPECT_EQ(result.status, status) << result.errors;
        return json::parse(result.output, nullptr, false);
    }

    /// The profile of a file's only kernel.
    json profileOf(const std::string& file, const std::vector<std::string>& flags = {}) {
        std::vector<std::string> arguments{"profile", file};
        arguments.insert(arguments.end(), flags.begin(), flags.end());
        const json document = runJson(std::move(arguments), 0);
        EXPECT_EQ(document.at("kernels").size(), 1U);
        return document.at("kernels").at(0);
    }

    static std::string read(const std::string& path) {
        std::ifstream stream(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    TemporaryWorkspace workspace;
};

TEST_F(CommandLine, HelpShowsExamplesAndExitStatuses) {
    const CommandResult help = runKernelskill({"--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.output, AllOf(HasSubstr("check"), HasSubstr("Examples"),
                                   HasSubstr("Exit status"), Not(HasSubstr("emulator-worker"))));
    EXPECT_THAT(runKernelskill({"--version"}).output, HasSubstr("kernelskill 0."));
}

TEST_F(CommandLine, MissingHeadersAreOneSentence) {
    const std::string kernel = "__global__ void k(float* x) { x[threadIdx.x] = 1; }\n";
    workspace.write("inner.h", "#include \"second.h\"\n");
    workspace.write("several.cu", "#include \"first.h\"\n#include \"second.h\"\n"
                                  "#include \"inner.h\"\n" +
                                      kernel);
    const std::string several = runKernelskill({"check", "several.cu"}, workspace.path()).output;
    EXPECT_THAT(several, AllOf(HasSubstr("several.cu:1:10: error: headers that were not found: "
                                         "'first.h', 'second.h'; name their folders behind '--'"),
                               Not(HasSubstr("several.cu:2")), Not(HasSubstr("several.cu:3"))));
    EXPECT_EQ(runJson({"check", "several.cu"}, 0).at("diagnostics").size(), 3U);

    workspace.write("other.h", "#include \"first.h\"\n");
    workspace.write("twice.cu", "#include \"other.h\"\n#include \"first.h\"\n" + kernel);
    EXPECT_THAT(runKernelskill({"check", "twice.cu"}, workspace.path()).output,
                AllOf(HasSubstr("twice.cu:1:1: error: headers that were not found: 'first.h';"),
                      Not(HasSubstr("twice.cu:2"))));

    workspace.write("one.cu", "#include \"first.h\"\n" + kernel);
    EXPECT_THAT(runKernelskill({"check", "one.cu"}, workspace.path()).output,
                HasSubstr("one.cu:1:10: error: 'first.h' file not found [include-not-found]"));
}

TEST_F(CommandLine, WrongUsageIsStatusTwo) {
    EXPECT_EQ(runKernelskill({}).status, 2);
    const CommandResult unknown = runKernelskill({"frobnicate"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.errors, HasSubstr("no subcommand 'frobnicate'"));
    EXPECT_EQ(runKernelskill({"check"}).status, 2);
    EXPECT_EQ(runJson({"check", "missing.cu"}, 2).at("error").at("kind"), "invalid-input");
    EXPECT_TRUE(runJson({"profile"}, 2).contains("error"));
}

TEST_F(CommandLine, BadLinesAndNamesAreStatusTwo) {
    const std::string file = workspace.write("t.cu", transpose);
    for (const char* line : {"0", "-1", "x", "", "99999999999", "3x"}) {
        for (const std::vector<std::string>& command :
             {std::vector<std::string>{"apply", "loop-unrolling"}, {"assembly"}, {"generate"}}) {
            auto arguments = command;
            arguments.push_back(file + ":" + line);
            const CommandResult result = runKernelskill(arguments, workspace.path());
            EXPECT_EQ(result.status, 2) << arguments.front() << " " << line;
            EXPECT_THAT(result.errors, HasSubstr("bad line"));
        }
    }
    const std::string odd = workspace.write("odd:x", transpose); // A file may be named like that.
    EXPECT_EQ(runKernelskill({"apply", "no-such-skill", odd}).errors.find("bad line"),
              std::string::npos);
    for (const char* command : {"profile", "optimize", "assembly"}) {
        const CommandResult result = runKernelskill({command, file, "--kernel", ""});
        EXPECT_EQ(result.status, 2) << command;
        EXPECT_THAT(result.errors, HasSubstr("needs a name"));
    }
}

/// `count` kernels, and a host function that launches them all.
std::string manyKernels(int count) {
    std::string kernels;
    std::string launches;
    for (int i = 0; i < count; ++i) {
        const std::string name = "k" + std::to_string(i);
        kernels += "__global__ void " + name +
                   "(const float* a, float* b, int n) {\n    int i = blockIdx.x * blockDim.x + "
                   "threadIdx.x;\n    if (i < n) b[i] = a[i] * 2.0f;\n}\n";
        launches += "    " + name + "<<<(n + 255) / 256, 256>>>(a, b, n);\n";
    }
    return kernels +
           "void run(int n) {\n    float *a, *b;\n    cudaMalloc(&a, n * 4);\n    "
           "cudaMalloc(&b, n * 4);\n" +
           launches + "}\n";
}

TEST_F(CommandLine, CheckTakesTimeLinearInTheKernels) {
    // Processor time of the child, since other tests run beside.
    const auto spent = [] {
        rusage usage{};
        getrusage(RUSAGE_CHILDREN, &usage);
        return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    };
    const auto seconds = [&](int count) {
        const std::string file = workspace.write("many.cu", manyKernels(count));
        const double before = spent();
        EXPECT_EQ(runJson({"check", file}, 0).at("kernels").size(),
                  static_cast<std::size_t>(count));
        return spent() - before;
    };
    const double few = std::min(seconds(100), seconds(100));
    const double many = std::min(seconds(800), seconds(800));
    // Eight times as long if linear, 64 times if quadratic.
    EXPECT_LT(many, 24 * few);
}

TEST_F(CommandLine, CheckSaysWhatHoldsEachKernelBack) {
    const std::string file = workspace.write("t.cu", transpose);
    const json document = runJson({"check", file}, 0);
    EXPECT_EQ(document.at("file"), file);
    const json& kernel = document.at("kernels").at(0);
    EXPECT_EQ(kernel.at("name"), "transpose");
    EXPECT_EQ(kernel.at("line"), 1);
    EXPECT_EQ(kernel.at("launches").at(0).at("line"), 13);
    EXPECT_EQ(kernel.at("launches").at(0).at("grid"), "grid");
    EXPECT_EQ(kernel.at("bottleneck").at("kind"), "bank-conflicts");
    EXPECT_FALSE(kernel.at("bottleneck").at("evidence").empty());
    const json& features = kernel.at("features");
    EXPECT_EQ(features.at("has_shared_memory"), true);
    EXPECT_EQ(features.at("has_atomics"), false);
    EXPECT_EQ(features.at("worst_bank_conflict_degree"), 32);
    EXPECT_TRUE(features.at("loop_depth").is_number_unsigned()) << features;
}

const std::string rowSums =
    "__global__ void rowSums(const float* a, float* sums, int rows, int columns) {\n"
    "    int row = blockIdx.y * gridDim.x + blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    float sum = 0.f;\n"
    "    for (int c = 0; c < columns; ++c)\n"
    "        sum += a[row * columns + c];\n"
    "    sums[row] = sum;\n"
    "}\n"
    "void run(float* a, float* sums) { rowSums<<<dim3(99, 9), 128>>>(a, sums, 9, 9); }\n";

TEST_F(CommandLine, CheckSaysFirstWhatWouldHelpWhereNoSkillDoes) {
    const std::string file = workspace.write("rows.cu", rowSums);
    const json kernel = runJson({"check", file}, 0).at("kernels").at(0);
    EXPECT_EQ(kernel.at("bottleneck").at("kind"), "uncoalesced-access");
    EXPECT_EQ(kernel.at("bottleneck").at("shapes").at(0), "row-reduction");
    const json& remedy = kernel.at("remedies").at(0);
    EXPECT_EQ(remedy.at("method"), "row-per-warp");
    EXPECT_EQ(remedy.at("skill"), "row-per-warp");
    EXPECT_THAT(remedy.at("why").get<std::string>(), HasSubstr("uses-thread-position: "));
    EXPECT_FALSE(kernel.at("ruled_out").empty());
    const std::string text = runKernelskill({"check", file}).output;
    EXPECT_THAT(text, HasSubstr("skills      row-per-warp: "));
    EXPECT_THAT(text, HasSubstr("not offered: uses-thread-position"));
}

TEST_F(CommandLine, CheckPutsGoodPracticeLast) {
    const std::string file = workspace.write("rows.cu", rowSums);
    const json skills = runJson({"check", file}, 0).at("kernels").at(0).at("skills");
    ASSERT_FALSE(skills.empty());
    EXPECT_EQ(skills.back().at("id"), "restrict-and-const");
    EXPECT_EQ(skills.back().at("role"), "hygiene");
    EXPECT_EQ(skills.back().at("answers"), "nothing");
    EXPECT_THAT(runKernelskill({"check", file}).output, HasSubstr("\n  hygiene     "));
}

TEST_F(CommandLine, CheckSaysWhyASkillDoesNotFitOnlyWhenAsked) {
    const std::string file = workspace.write("t.cu", transpose);
    const std::string text = runKernelskill({"check", file}).output;
    EXPECT_THAT(text, AllOf(HasSubstr("other skills do not fit; `check --why` tells the reasons"),
                            Not(HasSubstr("no-loop"))));
    EXPECT_THAT(runKernelskill({"check", file, "--why"}).output,
                AllOf(HasSubstr("ruled out   "), HasSubstr("no-loop: transpose has no loop"),
                      Not(HasSubstr("tells the reasons"))));
}

TEST_F(CommandLine, CheckSaysWhyNoRunCanCheckAnEdit) {
    const std::string why = "No run can check an edit of this kernel: parameter 'rows' of kernel "
                            "'transpose' is a pointer to pointers";
    const std::string file = workspace.write("rows.cu", transposeWithoutLaunch());
    EXPECT_THAT(runJson({"check", file}, 0).at("kernels").at(0).at("uncheckable"), HasSubstr(why));
    EXPECT_THAT(runKernelskill({"check", file}).output, HasSubstr("\n  unchecked   " + why));
    const std::string fine = workspace.write("t.cu", transpose);
    EXPECT_FALSE(runJson({"check", fine}, 0).at("kernels").at(0).contains("uncheckable"));
    EXPECT_THAT(runKernelskill({"check", fine}).output, Not(HasSubstr("unchecked")));
}

TEST_F(CommandLine, CheckOfAKernelWithoutOffersSaysHowToAskWhy) {
    const std::string file = workspace.write(
        "sum.cu", "__global__ void sum(const float* __restrict__ x, float* __restrict__ total) {\n"
                  "    atomicAdd(total, x[blockIdx.x * blockDim.x + threadIdx.x]);\n}\n");
    EXPECT_THAT(
        runKernelskill({"check", file}).output,
        AllOf(HasSubstr("skills      block-reduction: Reduce within the block before the atomic"),
              HasSubstr("Why is nothing offered? `check --why` tells")));
}

TEST_F(CommandLine, CheckPrintsErrorsAsCompilersDo) {
    const std::string file =
        workspace.write("bad.cu", "__global__ void k() {\n    undeclared();\n}\n");
    const CommandResult result = runKernelskill({"check", file});
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("bad.cu:2:5: error:"), HasSubstr("    undeclared();"),
                      HasSubstr("^"), Not(HasSubstr("\033["))));
}

TEST_F(CommandLine, CheckOfAFileWithoutKernelsFindsNothing) {
    EXPECT_EQ(runJson({"check", workspace.write("host.cu", "int main() {}\n")}, 1).at("kernels"),
              json::array());
}

TEST_F(CommandLine, CheckRefusesWhatIsNotText) {
    const std::string file =
        workspace.write("picture.cu", std::string("\x89PNG\r\n\x1a\n\0\0", 10));
    EXPECT_THAT(runJson({"check", file}, 2).dump(), HasSubstr("not text"));
    EXPECT_EQ(runJson({"check", workspace.path()}, 2).at("error").at("what"), "not a regular file");
}

TEST_F(CommandLine, FlagsAfterTheSeparatorReachTheParser) {
    const std::string file =
        workspace.write("flags.cu", "__global__ void k(int* p) { p[0] = VALUE; }\n");
    EXPECT_EQ(runJson({"check", file}, 0).at("diagnostics").size(), 1u);
    const CommandResult withFlag = runKernelskill({"check", file, "--json", "--", "-DVALUE=3"});
    EXPECT_EQ(json::parse(withFlag.output).at("diagnostics"), json::array());
}

TEST_F(CommandLine, ProfileCounts) {
    const std::string file = workspace.write("t.cu", transpose);
    const json document = profileOf(file);
    EXPECT_EQ(document.at("kernel"), "transpose");
    EXPECT_EQ(document.at("executor"), "emulator");
    EXPECT_EQ(document.at("launch").at("grid"), json({4, 2, 1}));
    EXPECT_EQ(document.at("launch").at("block"), json({32, 32, 1}));
    EXPECT_EQ(document.at("metrics").at("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"),
              4 * 2 * 32 * 31);
    EXPECT_EQ(document.at("bottleneck").at("kind"), "bank-conflicts");
    EXPECT_EQ(document.at("hazards"), json::array());
}

TEST_F(CommandLine, ProfileAnswersForEachKernelUnlessOneIsChosen) {
    const std::string file = workspace.write(
        "two.cu", "// kernelskill: launch fill<<<1, 32>>>(x=zero[32])\n"
                  "__global__ void fill(float* x) { x[threadIdx.x] = 1; }\n"
                  "// kernelskill: launch longer<<<4096, 256>>>(x=zero[1 << 20])\n"
                  "__global__ void longer(float* x) { x[blockIdx.x * 256 + threadIdx.x] = 1; }\n"
                  "__global__ void emptied(cudaTextureObject_t t, float* x) {\n"
                  "    x[0] = tex2D<float>(t, 0, 0);\n"
                  "}\n");
    const json document = runJson({"profile", file}, 0);
    EXPECT_EQ(document.at("file"), file);
    const json& kernels = document.at("kernels");
    ASSERT_EQ(kernels.size(), 3U) << document;
    EXPECT_EQ(kernels.at(0).at("kernel"), "fill") << "the file's order: nothing was timed";
    EXPECT_EQ(kernels.at(1).at("kernel"), "longer");
    EXPECT_EQ(kernels.at(2).at("kernel"), "emptied");
    EXPECT_EQ(kernels.at(2).at("error").at("kind"), "unsupported");
    const json one = runJson({"profile", file, "--kernel", "fill"}, 0);
    EXPECT_EQ(one.at("kernel"), "fill");
    EXPECT_EQ(one.at("launch"), kernels.at(0).at("launch"));
}

TEST_F(CommandLine, ProfileCountsArithmeticOfEachLine) {
    const std::string file = workspace.write(
        "s.cu", "// kernelskill: launch saxpy<<<4, 64>>>(a=2.5, x=rand[256], y=rand[256])\n"
                "__global__ void saxpy(float a, const float* x, float* y) {\n"
                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "    atomicAdd(&y[i / 2], a * x[i] + 1.0f);\n"
                "}\n");
    const json document = profileOf(file);
    constexpr const char* fused = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
    EXPECT_EQ(document.at("metrics").at(fused), 256);
    EXPECT_EQ(document.at("metrics").at("kernelskill__atomic_rounds_per_request.ratio"), 2);
    const auto& lines = document.at("lines");
    const auto line = std::ranges::find_if(lines, [&](const json& each) {
        return each.at("line") == 3 && each.at("metrics").contains(fused);
    });
    EXPECT_NE(line, lines.end());
    EXPECT_THAT(runKernelskill({"profile", file}).output,
                AllOf(HasSubstr("Global memory"), HasSubstr("Atomics"), HasSubstr("Arithmetic"),
                      HasSubstr("distinct bytes loaded"), HasSubstr("float multiply-adds")));
}

TEST_F(CommandLine, ProfileLeavesLocalMemoryOpenWhereThereIsSome) {
    const std::string file = workspace.write(
        "l.cu", "// kernelskill: launch pick<<<1, 32>>>(in=rand[64], order=rand[64, 0..64])\n"
                "__global__ void pick(float* in, const int* order) {\n"
                "    float values[64];\n"
                "    for (int k = 0; k < 64; ++k) values[k] = 0;\n"
                "    for (int k = 0; k < 64; ++k) values[order[k]] += in[k];\n"
                "    in[threadIdx.x] = values[order[threadIdx.x]];\n"
                "}\n");
    const json document = profileOf(file);
    if (document.at("static").is_null())
        GTEST_SKIP() << "no CUDA toolkit";
    EXPECT_FALSE(document.at("metrics").contains("smsp__inst_executed_op_local_ld.sum"));
    EXPECT_EQ(document.at("static").at("local_memory"),
              "not counted: 256 bytes of stack a thread, no spills");
}

TEST_F(CommandLine, ProfileEstimatesForTheChosenGpu) {
    const std::string file = workspace.write("t.cu", transpose);
    const json here = profileOf(file).at("roofline");
    EXPECT_EQ(here.at("gpu"), "H200");
    EXPECT_GT(here.at("least_seconds").get<double>(), 0);
    EXPECT_THAT(here.at("text").dump(), HasSubstr("not measured"));
    const json there = profileOf(file, {"--gpu", "RTX 4090"}).at("roofline");
    EXPECT_EQ(there.at("gpu"), "RTX 4090");
    EXPECT_GT(there.at("least_seconds"), here.at("least_seconds"));
    EXPECT_THAT(runJson({"profile", file, "--gpu", "abacus"}, 2).dump(), HasSubstr("B200"));
}

TEST_F(CommandLine, ProfileSaysWhatTheGpusCompilerMakesOfTheKernel) {
    const std::string file = workspace.write("t.cu", transpose);
    const json facts = profileOf(file).at("static");
    if (facts.is_null())
        GTEST_SKIP() << "no CUDA toolkit";
    ASSERT_TRUE(facts.contains("registers")) << facts;
    EXPECT_EQ(facts.at("shared_bytes"), 32 * 32 * 4);
    EXPECT_EQ(facts.at("spill_store_bytes"), 0);
    EXPECT_EQ(facts.at("local_memory"), "none");
    EXPECT_EQ(profileOf(file).at("metrics").at("smsp__inst_executed_op_local_ld.sum"), 0);
    EXPECT_GT(facts.at("occupancy").at("percent"), 0);
    EXPECT_EQ(profileOf(file, {"--no-toolkit"}).at("static"), nullptr);
}

TEST_F(CommandLine, ProfileNamesWhatIsMissing) {
    const std::string file = workspace.write("t.cu", transpose);
    EXPECT_EQ(runJson({"profile", file, "--on", "gpu"}, 3).at("error").at("kind"), "missing");
    EXPECT_THAT(runJson({"profile", file, "--kernel", "nope"}, 2).dump(), HasSubstr("transpose"));
    EXPECT_EQ(runKernelskill({"profile", file, "--on", "abacus"}).status, 2);
}

TEST_F(CommandLine, SkillsAreListedAndShown) {
    const json list = runJson({"skills", "list"}, 0);
    // Each folder of skills/ with a document is one.
    std::ptrdiff_t documents = 0;
    for (const auto& folder :
         std::filesystem::directory_iterator(std::string(paths::sourceFolder) + "/skills"))
        documents += std::filesystem::exists(folder.path() / "SKILL.md") ? 1 : 0;
    const auto isBuiltIn = [](const json& skill) { return skill.at("origin") == "built-in"; };
    EXPECT_EQ(std::ranges::count_if(list, isBuiltIn), documents);
    EXPECT_EQ(runJson({"skills"}, 0), list);
    const json skill = runJson({"skills", "show", "loop-unrolling"}, 0);
    EXPECT_EQ(skill.at("id"), "loop-unrolling");
    EXPECT_FALSE(skill.at("method").get<std::string>().empty());
    EXPECT_EQ(runKernelskill({"skills", "show", "nope"}).status, 2);
}

TEST_F(CommandLine, ApplyVerifiesAndWritesOnlyWhenAsked) {
    const std::string file = workspace.write("t.cu", transpose);
    const json document = runJson({"apply", "shared-memory-padding", file + ":9"}, 0);
    EXPECT_EQ(document.at("skill"), "shared-memory-padding");
    EXPECT_FALSE(document.at("edits").empty());
    EXPECT_EQ(document.at("verdict").at("status"), "unmeasured");
    for (const json& check : document.at("verdict").at("checks"))
        EXPECT_TRUE(check.at("passed").get<bool>()) << check;
    EXPECT_EQ(read(file), transpose);
    runJson({"apply", "shared-memory-padding", file + ":9", "--write"}, 0);
    EXPECT_NE(read(file), transpose);
    EXPECT_EQ(runJson({"memory", "show", file}, 0).at("entries").empty(), false);
}

TEST_F(CommandLine, ApplySaysWhyASkillDoesNotFit) {
    const std::string file = workspace.write("t.cu", transpose);
    const json document = runJson({"apply", "warp-shuffle-reduction", file}, 1);
    EXPECT_EQ(document.at("edits"), json::array());
    EXPECT_FALSE(document.at("verdict").at("summary").get<std::string>().empty());
    EXPECT_EQ(runKernelskill({"apply", "nope", file}).status, 2);
}

TEST_F(CommandLine, ApplyTakesEachOptionOfASkill) {
    const std::string file = workspace.write(
        "vecmat.cu", read(std::string(paths::sourceFolder) + "/skills/split-reduction/before.cu"));
    const json first = runJson({"apply", "split-reduction", file}, 0);
    const std::size_t options = first.at("options").size();
    ASSERT_GE(options, 2U);
    EXPECT_EQ(first.at("option"), 1);
    const json second = runJson({"apply", "split-reduction", file, "--option", "2"}, 0);
    EXPECT_EQ(second.at("options"), first.at("options"));
    EXPECT_NE(second.at("diff"), first.at("diff"));
    const auto none =
        runKernelskill({"apply", "split-reduction", file, "--option", std::to_string(options + 1)});
    EXPECT_EQ(none.status, 2);
    EXPECT_NE(none.errors.find("it has: 1 ("), std::string::npos) << none.errors;
}

TEST_F(CommandLine, RepairFixesAndWritesOnlyWhenAsked) {
    const std::string broken =
        "__global__ void k(int* p) {\n    p[0] = 1\n    __synchthreads();\n}\n";
    const std::string file = workspace.write("broken.cu", broken);
    const json document = runJson({"repair", file}, 0);
    EXPECT_EQ(document.at("status"), "repaired");
    EXPECT_EQ(document.at("diagnosis").at("errors_after"), 0);
    EXPECT_EQ(read(file), broken);
    runJson({"repair", file, "--write"}, 0);
    EXPECT_EQ(runJson({"repair", file}, 1).at("status"), "clean");
}

TEST_F(CommandLine, MemoryOfAnUntouchedFileIsEmpty) {
    const std::string file = workspace.write("t.cu", transpose);
    EXPECT_EQ(runJson({"memory", "show", file}, 1).at("entries"), json::array());
    EXPECT_EQ(runJson({"memory", "show", "missing.cu"}, 2).at("error").at("what"), "no such file");
}

TEST_F(CommandLine, DoctorNamesWhatItChecked) {
    const CommandResult result = runKernelskill({"doctor", "--json"}, workspace.path());
    const json checks = json::parse(result.output).at("checks");
    std::vector<std::string> names;
    for (const json& check : checks) {
        names.push_back(check.at("name"));
        // A machine may lack these.
        const bool mayBeAbsent =
            check.at("name") == "cuda-toolkit" || check.at("name") == "compilation-database" ||
            check.at("name") == "slurm" || check.at("name") == "language-model" ||
            check.at("name") == "libtorch" ||
            check.at("name").get<std::string>().starts_with("gpu");
        EXPECT_TRUE(mayBeAbsent || check.at("status") == "ok") << check;
    }
    for (const char* name : {"libclang", "prelude", "cuda-toolkit", "host-compiler", "emulator",
                             "gpu", "cache", "workspace", "compilation-database", "language-model"})
        EXPECT_THAT(names, ::testing::Contains(name));
    const auto torch = std::ranges::find(
        checks, "libtorch", [](const json& check) { return check.at("name").get<std::string>(); });
    ASSERT_NE(torch, checks.end());
    const bool hasLibTorch = !std::string_view(paths::torchProgram).empty();
    EXPECT_EQ(torch->at("status"), hasLibTorch ? "ok" : "absent") << *torch;
    EXPECT_THAT(torch->at(hasLibTorch ? "detail" : "remedy").get<std::string>(),
                HasSubstr(hasLibTorch ? "LibTorch" : "libtorch-dev"));
    // Slurm is examined where its commands are installed.
    EXPECT_EQ(std::ranges::find(names, "slurm") != names.end(),
              analysis::findProgram("srun").has_value());
    EXPECT_EQ(result.status, 0);
}

TEST_F(CommandLine, TheSchemaIsOneDocument) {
    const CommandResult result = runKernelskill({"configuration-schema"});
    EXPECT_EQ(result.status, 0);
    EXPECT_TRUE(json::parse(result.output).contains("kernelskill.codeLens.enabled"));
}

} // namespace
} // namespace kernelskill::lsp::testing
