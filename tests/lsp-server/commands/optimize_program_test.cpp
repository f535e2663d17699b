// `kernelskill optimize -- ./program`, on a stand-in of driver and CUPTI; the emulator searches.
#include "tests/lsp-server/commands/fake_cuda_workspace.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

namespace kernelskill::lsp::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

/// Only the program can pass its kernel's argument.
constexpr const char* viewProgram = R"(#include <cstdio>
#include <vector>

struct View {
    const float* x;
    int length;
};

__global__ void scale(View from, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * from.x[i];
}

int main() {
    const int n = 65536;
    std::vector<float> a(n);
    for (int i = 0; i < n; ++i)
        a[i] = static_cast<float>(i % 7);
    float *dx, *dy;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<n / 128, 128>>>(View{dx, n}, dy, n);
    cudaMemcpy(a.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    double total = 0;
    for (float value : a)
        total += value;
    std::printf("total %.1f\n", total);
}
)";

/// The instantiation for 2 takes longer.
constexpr const char* templateProgram = R"(#include <cstdio>
#include <vector>

template <int Factor>
__global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = Factor * x[i];
}

int main() {
    const int n = 131072;
    std::vector<float> a(n), b(n);
    for (int i = 0; i < n; ++i)
        a[i] = static_cast<float>(i % 7);
    float *dx, *dy, *dz;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMalloc(&dz, n * sizeof(float));
    cudaMemcpy(dx, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    scale<2><<<n / 128, 128>>>(dx, dy, n);
    scale<3><<<512, 128>>>(dx, dz, 65536);
    cudaMemcpy(a.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), dz, n * sizeof(float), cudaMemcpyDeviceToHost);
    double total = 0;
    for (int i = 0; i < 65536; ++i)
        total += a[2 * i] + b[i];
    std::printf("total %.1f\n", total);
}
)";

/// Nothing follows the pointers that its kernel takes, but the program.
constexpr const char* rowsProgram = R"(#include <cstdio>
#include <vector>

__global__ void scaleRows(float** rows, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * rows[0][i];
}

int main() {
    const int n = 65536;
    std::vector<float> a(n);
    for (int i = 0; i < n; ++i)
        a[i] = static_cast<float>(i % 7);
    float *dx, *dy;
    float** rows;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMalloc(&rows, sizeof(float*));
    cudaMemcpy(dx, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(rows, &dx, sizeof(float*), cudaMemcpyHostToDevice);
    scaleRows<<<n / 128, 128>>>(rows, dy, n);
    cudaMemcpy(a.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    double total = 0;
    for (float value : a)
        total += value;
    std::printf("total %.1f\n", total);
}
)";

/// The kernel calls malloc() on the device. A compiler cannot leave the call out, since `n` decides
/// which of the four elements is read.
constexpr const char* heapProgram = R"(#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float* four = static_cast<float*>(malloc(4 * sizeof(float)));
        for (int j = 0; j < 4; ++j)
            four[j] = j * x[i];
        y[i] = four[n % 4];
        free(four);
    }
}

int main() {
    const int n = 8192;
    std::vector<float> a(n, 3);
    float *dx, *dy;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<n / 128, 128>>>(dx, dy, n);
    cudaMemcpy(a.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%.1f\n", a[n - 1]);
}
)";

class OptimizeProgram : public FakeCudaWorkspace {
protected:
    OptimizeProgram() {
        ::setenv("TMPDIR", elsewhere.path().c_str(), 1);
        workspace.write("columns.cu", columnProgram);
    }
    ~OptimizeProgram() override { ::unsetenv("TMPDIR"); }

    [[nodiscard]] CommandResult optimize(std::vector<std::string> options,
                                         const std::string& program = "./columns",
                                         const std::string& executor = "emulator") const {
        if (std::ranges::find(options, "--seconds") == options.end())
            options.insert(options.end(), {"--seconds", "120"});
        options.insert(options.begin(),
                       {"optimize", "--on", executor, "--seed", "1", "--rounds", "1"});
        if (!program.empty())
            options.insert(options.end(), {"--", program});
        return run(options);
    }
    /// Writes the program, searches inside it, and returns the JSON document of a search that found
    /// something; a discarded value if it failed.
    [[nodiscard]] json searchedInside(const std::string& text,
                                      std::string* messages = nullptr) const {
        workspace.write("columns.cu", text);
        const auto result = optimize({"--json", "--build", build()}, "./columns", "auto");
        EXPECT_EQ(result.status, 0) << result.errors << result.output;
        if (messages != nullptr)
            *messages = result.errors;
        return json::parse(result.output, nullptr, false);
    }
    /// Whether candidates can be compiled for a GPU, by the nvcc of this machine.
    [[nodiscard]] bool hasCompiler() const {
        const fs::path compilers = "/usr/local/cuda/bin";
        if (!fs::exists(compilers / "nvcc"))
            return false;
        fs::create_directory_symlink(compilers, elsewhere.path("toolkit/bin"));
        return true;
    }
    [[nodiscard]] static std::string fusionExample() {
        return read(std::string(paths::sourceFolder) + "/skills/kernel-fusion/before.cu");
    }
    [[nodiscard]] static std::string build() { return buildOf("columns.cu", "columns"); }
    /// The user's tree and the temporary folder have what the test has put there.
    void expectNothingLeft() const {
        for (const auto& entry : fs::directory_iterator(workspace.path()))
            EXPECT_THAT(entry.path().filename().string(), AnyOf("columns.cu", ".kernelskill"));
        for (const auto& entry : fs::directory_iterator(elsewhere.path()))
            EXPECT_THAT(entry.path().filename().string(), AnyOf("toolkit", "data", "pids"));
    }
    /// Splits the program into a header with the kernels and a source with the host's code.
    void writeHeaderAndSource() const {
        const std::string text = columnProgram;
        const auto kernels = text.find("__global__ void columnSums");
        const auto host = text.find("int main");
        workspace.write("kernels.cuh", "#pragma once\n\n" + text.substr(kernels, host - kernels));
        workspace.write("columns.cu", text.substr(0, kernels) + "#include \"kernels.cuh\"\n\n" +
                                          text.substr(host));
    }
};

TEST_F(OptimizeProgram, KeepsWhatBuildsAndPassesAndTakesBackTheRest) {
    const auto result = optimize({"--json", "--build", build()});
    ASSERT_EQ(result.status, 0) << result.errors << result.output;
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output;
    EXPECT_EQ(document.at("check"), "output");
    EXPECT_EQ(document.at("output_note"), "");
    EXPECT_EQ(document.at("written"), false);
    ASSERT_EQ(document.at("kernels").size(), 2u);
    // The stand-in of nvcc knows neither shared memory nor barriers.
    const auto& sums = document.at("kernels").at(0);
    EXPECT_EQ(sums.at("outcome"), "taken-back");
    EXPECT_THAT(sums.at("why").get<std::string>(), HasSubstr("the build ended with status 1"));
    EXPECT_TRUE(sums.at("speedup").is_null());
    const auto& scale = document.at("kernels").at(1);
    EXPECT_EQ(scale.at("outcome"), "kept");
    EXPECT_EQ(scale.at("why"), "");
    EXPECT_EQ(scale.at("file"), "columns.cu");
    EXPECT_EQ(scale.at("executor"), "emulator");
    EXPECT_TRUE(scale.at("held").is_null());
    EXPECT_EQ(scale.at("not_held"), "") << "nobody wanted it held";
    EXPECT_FALSE(scale.at("skills").empty());
    EXPECT_GT(scale.at("speedup"), 1);
    EXPECT_TRUE(scale.at("search_speedup").is_null()) << "nothing was measured in the search";
    EXPECT_GT(scale.at("model_gain"), 1);
    EXPECT_GT(document.at("gpu_time").at("speedup"), 1);
    EXPECT_EQ(document.at("gpu_time").at("seconds").size(), 3u);
    EXPECT_EQ(document.at("program_time").at("seconds").size(), 3u);
    const auto diff = document.at("diff").get<std::string>();
    EXPECT_THAT(diff, AllOf(HasSubstr("--- a/columns.cu\n+++ b/columns.cu\n"),
                            HasSubstr("-    scale<<<32, 128>>>(ds, dt, 4096);"),
                            Not(HasSubstr("__shared__")), Not(HasSubstr("/tmp"))));
    EXPECT_EQ(read(workspace.path("columns.cu")), columnProgram);
    expectNothingLeft();
}

/// Returns the two kernels of `example`, that of kernel-fusion, and a program that launches them.
std::string fusible(const std::string& example) {
    const auto begin = example.find("__global__");
    return "#include <cstdio>\n#include <vector>\n\n" +
           example.substr(begin, example.find("void run(") - begin) + R"(int main() {
    const int n = 10000;
    std::vector<float> x(n), b(n);
    for (int i = 0; i < n; ++i) {
        x[i] = static_cast<float>(i % 7);
        b[i] = static_cast<float>(i % 5);
    }
    float *dx, *db, *dy;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&db, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<(n + 127) / 128, 128>>>(dx, dy, 0.5f, n);
    addBias<<<(n + 127) / 128, 128>>>(dy, db, n);
    cudaMemcpy(x.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    double total = 0;
    for (float value : x)
        total += value;
    std::printf("total %.1f\n", total);
}
)";
}

TEST_F(OptimizeProgram, JudgesEditsOfTheHostsCodeByTheProgram) {
    workspace.write("columns.cu", fusible(fusionExample()));
    const auto result = optimize({"--json", "--build", build()});
    ASSERT_EQ(result.status, 0) << result.errors << result.output;
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_EQ(document.at("host_edits").size(), 1u) << result.output;
    const auto& fused = document.at("host_edits").at(0);
    EXPECT_EQ(fused.at("skill"), "kernel-fusion");
    EXPECT_EQ(fused.at("outcome"), "kept") << fused.dump();
    EXPECT_EQ(fused.at("why"), "");
    EXPECT_GT(fused.at("speedup"), 1.5) << "there is half of the threads";
    EXPECT_GT(document.at("kernel_time").at("speedup"), 1.5);
    EXPECT_THAT(document.at("diff").get<std::string>(),
                HasSubstr("-    addBias<<<(n + 127) / 128, 128>>>(dy, db, n);"));
    EXPECT_EQ(read(workspace.path("columns.cu")), fusible(fusionExample()));
    expectNothingLeft();
}

TEST_F(OptimizeProgram, TakesBackEditsOfTheHostsCodeThatTheProgramDoesNotPass) {
    workspace.write("columns.cu", fusible(fusionExample()));
    const auto result =
        optimize({"--build", build(), "--check", "! grep -q scaleAddBias columns.cu"});
    EXPECT_THAT(result.output, HasSubstr("(kernel-fusion): the check ended with status 1"))
        << result.errors;
    EXPECT_THAT(result.output, HasSubstr("host  taken-back")) << result.errors;
}

TEST_F(OptimizeProgram, SearchesAllHotKernelsUnlessToldOtherwise) {
    std::string text = columnProgram;
    const auto replace = [&](const std::string& what, const std::string& by) {
        text.replace(text.find(what), what.size(), by);
    };
    for (const char* name : {"twice", "thrice"}) {
        replace("int main", std::string("__global__ void ") + name +
                                "(const float* x, float* y, int n) {\n"
                                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "    if (i < n)\n"
                                "        y[i] = 3 * x[i];\n}\n\nint main");
        replace("    cudaMemcpy(sums.data()", std::string("    ") + name +
                                                  "<<<64, 128>>>(ds, dt, 8192);\n"
                                                  "    cudaMemcpy(sums.data()");
    }
    replace("scale<<<32, 128>>>(ds, dt, 4096)", "scale<<<64, 128>>>(ds, dt, 8192)");
    workspace.write("columns.cu", text);
    // A failed check makes the end short.
    const auto outcomes = [&](std::vector<std::string> options) {
        options.insert(options.end(), {"--json", "--build", build(), "--check",
                                       "cmp columns.cu ../original/columns.cu"});
        const auto document = json::parse(optimize(options).output, nullptr, false);
        std::vector<std::string> all;
        if (document.is_object())
            for (const auto& kernel : document.at("kernels"))
                all.push_back(kernel.at("outcome") == "not-searched"
                                  ? kernel.at("why").get<std::string>()
                                  : "searched");
        return all;
    };
    EXPECT_THAT(outcomes({}), ElementsAre("searched", "searched", "searched", "searched"));
    EXPECT_THAT(outcomes({"--kernels", "1"}),
                ElementsAre("searched", "1 kernel at most is searched",
                            "1 kernel at most is searched", "1 kernel at most is searched"));
    const std::string less = "4 s are enough for 2 kernels that can gain more; for this one, too, ";
    EXPECT_THAT(outcomes({"--seconds", "4"}),
                UnorderedElementsAre("searched", "searched", less + "give --seconds 6",
                                     less + "give --seconds 8"));
    EXPECT_THAT(outcomes({"--seconds", "8"}),
                ElementsAre("searched", "searched", "searched", "searched"))
        << "a short try for each";
}

TEST_F(OptimizeProgram, SearchesInsideTheProgram) {
    if (!hasCompiler())
        GTEST_SKIP() << "no nvcc to compile candidates with";
    const auto result =
        optimize({"--json", "--kernel", "scale", "--build", build()}, "./columns", "auto");
    ASSERT_EQ(result.status, 0) << result.errors << result.output;
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output;
    const auto& scale = document.at("kernels").at(0);
    EXPECT_EQ(scale.at("outcome"), "kept") << scale.dump(1);
    EXPECT_EQ(scale.at("executor"), "program") << scale.dump(1);
    EXPECT_EQ(scale.at("not_held"), "");
    ASSERT_TRUE(scale.at("held").is_object());
    EXPECT_EQ(scale.at("held").at("launch"), 1);
    EXPECT_EQ(scale.at("held").at("allocations"), 3);
    EXPECT_EQ(scale.at("held").at("restarts"), json::array());
    EXPECT_EQ(scale.at("held").at("end"), "") << "the program has to go on as usual";
    EXPECT_EQ(scale.at("held").at("same_output"), true);
    EXPECT_GT(scale.at("search_speedup"), 1);
    EXPECT_GT(scale.at("speedup"), 1);
    expectNothingLeft();
}

TEST_F(OptimizeProgram, SaysWhereAHeldProgramPrintsOtherwiseThanAlone) {
    if (!hasCompiler())
        GTEST_SKIP() << "no nvcc to compile candidates with";
    // Only a program that is held has this library.
    std::string text = columnProgram;
    const std::string main = "int main() {";
    text.insert(text.find(main) + main.size(), R"(
    const char* added = std::getenv("CUDA_INJECTION64_PATH");
    std::printf(added != nullptr && std::strstr(added, "replay") ? "held\n" : "alone\n");)");
    workspace.write("columns.cu", "#include <cstdlib>\n#include <cstring>\n" + text);
    const auto result =
        optimize({"--json", "--kernel", "scale", "--build", build()}, "./columns", "auto");
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output << result.errors;
    const auto& held = document.at("kernels").at(0).at("held");
    ASSERT_TRUE(held.is_object()) << document.dump(1);
    EXPECT_EQ(held.at("same_output"), false);
    EXPECT_EQ(held.at("end"), "its output is not the one of a run alone: line 1 is 'held' instead "
                              "of 'alone'");
}

TEST_F(OptimizeProgram, SearchesInsideTheProgramWhatOnlyItCanLaunch) {
    if (!hasCompiler())
        GTEST_SKIP() << "no nvcc to compile candidates with";
    const json document = searchedInside(viewProgram);
    ASSERT_TRUE(document.is_object());
    const auto& scale = document.at("kernels").at(0);
    EXPECT_EQ(scale.at("outcome"), "kept") << scale.dump(1);
    EXPECT_EQ(scale.at("executor"), "program");
    EXPECT_EQ(scale.at("held").at("allocations"), 2);
    // The edited grid follows from the number that the program passes beside the class.
    EXPECT_THAT(document.at("diff").get<std::string>(),
                HasSubstr("-    scale<<<n / 128, 128>>>(View{dx, n}, dy, n);"));
    expectNothingLeft();
    const auto emulated = optimize({"--json", "--build", build()});
    const auto left = json::parse(emulated.output, nullptr, false);
    ASSERT_TRUE(left.is_object()) << emulated.output << emulated.errors;
    EXPECT_EQ(left.at("kernels").at(0).at("outcome"), "not-searched");
    EXPECT_THAT(left.at("kernels").at(0).at("why").get<std::string>(),
                HasSubstr("a class with pointers inside"));
}

TEST_F(OptimizeProgram, SearchesInsideTheProgramWhatTakesPointersToPointers) {
    if (!hasCompiler())
        GTEST_SKIP() << "no nvcc to compile candidates with";
    const json document = searchedInside(rowsProgram);
    ASSERT_TRUE(document.is_object());
    const auto& scale = document.at("kernels").at(0);
    EXPECT_EQ(scale.at("outcome"), "kept") << scale.dump(1);
    EXPECT_EQ(scale.at("executor"), "program");
    EXPECT_EQ(scale.at("held").at("allocations"), 3);
    expectNothingLeft();
}

TEST_F(OptimizeProgram, SearchesEachInstantiationOfATemplate) {
    if (!hasCompiler())
        GTEST_SKIP() << "no nvcc to compile candidates with";
    std::string messages;
    const json document = searchedInside(templateProgram, &messages);
    ASSERT_TRUE(document.is_object());
    const auto& kernels = document.at("kernels");
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels.at(0).at("symbol"), "_Z5scaleILi2EEvPKfPfi");
    EXPECT_EQ(kernels.at(1).at("symbol"), "_Z5scaleILi3EEvPKfPfi");
    for (const auto& kernel : kernels) {
        EXPECT_EQ(kernel.at("executor"), "program") << kernel.dump(1);
        EXPECT_EQ(kernel.at("held").at("same_output"), true);
        EXPECT_GT(kernel.at("speedup"), 1) << "the text is one";
    }
    EXPECT_EQ(kernels.at(0).at("outcome"), "kept");
    EXPECT_TRUE(kernels.at(0).at("base").is_null());
    EXPECT_EQ(kernels.at(1).at("base"), kernels.at(0).at("symbol"));
    EXPECT_THAT(messages, HasSubstr("trying its edits at void scale<3>"));
    expectNothingLeft();
}

TEST_F(OptimizeProgram, KeepsNoEditThatIsWrongOrSlowerAtAnotherInstantiation) {
    if (!hasCompiler())
        GTEST_SKIP() << "no nvcc to compile candidates with";
    const std::vector<std::pair<std::string, std::string>> cases{
        {"wrong", "they do not fit another instantiation, void scale<3>"},
        {"slow", "another instantiation, void scale<3>"}};
    workspace.write("columns.cu", templateProgram);
    for (const auto& [what, why] : cases) {
        ::setenv("FAKE_EDITED", ("_Z5scaleILi3EEvPKfPfi=" + what).c_str(), 1);
        const auto result =
            optimize({"--json", "--write", "--build", build()}, "./columns", "auto");
        ::unsetenv("FAKE_EDITED");
        const auto document = json::parse(result.output, nullptr, false);
        ASSERT_TRUE(document.is_object()) << result.output << result.errors;
        const auto& first = document.at("kernels").at(0);
        EXPECT_EQ(first.at("symbol"), "_Z5scaleILi2EEvPKfPfi");
        EXPECT_EQ(first.at("outcome"), "taken-back") << first.dump(1);
        EXPECT_THAT(first.at("why").get<std::string>(), HasSubstr(why));
        EXPECT_GT(first.at("search_speedup"), 1) << "it is better where it was found";
        const auto& second = document.at("kernels").at(1);
        EXPECT_TRUE(second.at("base").is_null()) << "its search begins from the user's text";
        EXPECT_NE(second.at("outcome"), "kept") << second.dump(1);
        EXPECT_EQ(document.at("diff"), "") << what;
        EXPECT_EQ(result.status, 1);
        EXPECT_EQ(read(workspace.path("columns.cu")), templateProgram);
        expectNothingLeft();
    }
}

TEST_F(OptimizeProgram, SaysWhyAKernelIsNotSearchedInsideTheProgram) {
    // The toolkit has no compiler for candidates.
    const auto result =
        optimize({"--json", "--kernel", "scale", "--build", build()}, "./columns", "auto");
    ASSERT_EQ(result.status, 0) << result.errors << result.output;
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output;
    const auto& scale = document.at("kernels").at(0);
    EXPECT_EQ(scale.at("outcome"), "kept");
    EXPECT_EQ(scale.at("executor"), "emulator") << "it was captured as well";
    EXPECT_TRUE(scale.at("held").is_null());
    EXPECT_THAT(scale.at("not_held").get<std::string>(), HasSubstr("toolkit"));
    EXPECT_GT(scale.at("attempts"), 0);
    expectNothingLeft();
}

TEST_F(OptimizeProgram, SaysWhatATrialCannotUndo) {
    if (!hasCompiler())
        GTEST_SKIP() << "no nvcc to compile candidates with";
    workspace.write("columns.cu", heapProgram);
    const auto result = optimize({"--json", "--build", build()}, "./columns", "auto");
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output << result.errors;
    const auto& scale = document.at("kernels").at(0);
    EXPECT_TRUE(scale.at("held").is_null());
    EXPECT_THAT(
        scale.at("not_held").get<std::string>(),
        AllOf(
            StartsWith("the kernel of the file cannot be tried in the program: the kernel calls "),
            HasSubstr("() on the device, which a trial cannot undo"), Not(HasSubstr("flags"))))
        << "it does what the program's own does, and no flag helps";
    expectNothingLeft();
}

TEST_F(OptimizeProgram, WritesWhenAskedTo) {
    workspace.write(
        ".kernelskill/programs.json",
        json({{"columns", {{"command", "./columns"}, {"build", build()}, {"pattern", "^total"}}}})
            .dump());
    const auto result = optimize({"--program", "columns", "--kernel", "scale", "--write"}, "");
    ASSERT_EQ(result.status, 0) << result.errors << result.output;
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("kept"), HasSubstr("checked by its pattern"),
                      HasSubstr("kernels of the program: "), HasSubstr("GPU time with copies: ")));
    EXPECT_THAT(result.errors, HasSubstr("written"));
    const auto text = read(workspace.path("columns.cu"));
    EXPECT_NE(text, columnProgram);
    EXPECT_THAT(text, HasSubstr("sums[column] += a[row * columns + column];"))
        << "--kernel names the other one";
    expectNothingLeft();
    // The words of a program that the workspace knows are built as it says.
    const auto again = optimize({"--kernel", "columnSums", "--check", "false"});
    EXPECT_EQ(again.status, 1);
    EXPECT_THAT(again.errors, HasSubstr("the check ended with status 1"));
}

TEST_F(OptimizeProgram, EditsAHeaderAndTheLaunchInAnotherFile) {
    writeHeaderAndSource();
    const auto result = optimize({"--kernel", "scale", "--json", "--write", "--build", build()});
    ASSERT_EQ(result.status, 0) << result.errors << result.output;
    const auto document = json::parse(result.output, nullptr, false);
    EXPECT_EQ(document.at("kernels").at(0).at("file"), "kernels.cuh");
    EXPECT_EQ(document.at("written"), true);
    EXPECT_THAT(document.at("diff").get<std::string>(),
                AllOf(HasSubstr("+++ b/columns.cu"), HasSubstr("+++ b/kernels.cuh")));
    EXPECT_THAT(read(workspace.path("kernels.cuh")), HasSubstr("float4"));
    EXPECT_THAT(read(workspace.path("columns.cu")), Not(HasSubstr("scale<<<32, 128>>>")));
}

TEST_F(OptimizeProgram, AFailedCheckTakesEverythingBack) {
    // Passes for the original's source alone, which is beside it.
    const auto result = optimize({"--kernel", "scale", "--build", build(), "--check",
                                  "cmp columns.cu ../original/columns.cu"});
    EXPECT_EQ(result.status, 1) << result.errors;
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("taken-back"), HasSubstr("the check ended with status 1"),
                      HasSubstr("nothing is better than the original")));
    EXPECT_THAT(result.output, Not(HasSubstr("@@")));
    expectNothingLeft();
}

TEST_F(OptimizeProgram, SaysWhatItNeeds) {
    const auto unbuilt = optimize({});
    EXPECT_EQ(unbuilt.status, 2);
    EXPECT_THAT(unbuilt.errors,
                AllOf(HasSubstr("not known how the program is built"), HasSubstr("--build 'nvcc")));
    EXPECT_EQ(run({"optimize"}).status, 2);
    EXPECT_EQ(optimize({"columns.cu", "--build", build()}).status, 2);
    EXPECT_EQ(optimize({"--report", "x.html", "--build", build()}).status, 2);
    const auto failed = optimize({"--build", "false"});
    EXPECT_EQ(failed.status, 1);
    EXPECT_THAT(failed.errors, HasSubstr("the original fails in a copy of the tree"));
    const auto unknown = optimize({"--build", build(), "--kernel", "nobody"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.errors, HasSubstr("no kernel 'nobody'"));
    workspace.write("big.dat", std::string(2 << 20, 'x'));
    const auto large = optimize({"--build", build(), "--copy-limit", "1"});
    EXPECT_EQ(large.status, 2);
    EXPECT_THAT(large.errors, HasSubstr("too large to copy"));
    fs::remove(workspace.path("big.dat"));
    const auto idle = optimize({"--build", "true"}, "/bin/true");
    EXPECT_EQ(idle.status, 3);
    EXPECT_THAT(idle.errors, HasSubstr("never started the CUDA driver"));
    expectNothingLeft();
}

TEST_F(OptimizeProgram, WritesNothingIfAFileChanged) {
    writeHeaderAndSource();
    const auto header = read(workspace.path("kernels.cuh"));
    const auto source = read(workspace.path("columns.cu"));
    // The user saves the file while the program is checked. Its path does not name the tree.
    fs::create_directory_symlink(workspace.path(), elsewhere.path("tree"));
    const auto result = optimize({"--kernel", "scale", "--write", "--build", build(), "--check",
                                  "echo '// new' >> " + elsewhere.path("tree/columns.cu")});
    EXPECT_EQ(result.status, 2) << result.errors;
    EXPECT_THAT(result.errors, AllOf(HasSubstr("columns.cu"), HasSubstr("nothing was written")));
    EXPECT_EQ(read(workspace.path("kernels.cuh")), header);
    EXPECT_THAT(read(workspace.path("columns.cu")), StartsWith(source + "// new\n"));
    EXPECT_THAT(read(workspace.path("columns.cu")), HasSubstr("scale<<<32, 128>>>"));
}

/// Whether a process still runs after two seconds. A zombie does not.
bool staysAlive(const std::string& pid) {
    for (int i = 0; i < 100; ++i) {
        std::ifstream file("/proc/" + pid + "/stat");
        const std::string text(std::istreambuf_iterator<char>(file), {});
        const auto name = text.rfind(") ");
        if (name == std::string::npos || text[name + 2] == 'Z')
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}

TEST_F(OptimizeProgram, SignalsThatEndItLeaveNothingBehind) {
    // The signals of Ctrl-C, `kill` and a closed terminal come while it builds.
    for (const char* signal : {"INT", "TERM", "HUP"}) {
        const auto result =
            optimize({"--build", "sleep 100 & echo $! $$ > " + elsewhere.path("pids") + "; kill -" +
                                     signal + " $PPID; wait"});
        EXPECT_EQ(result.status, 1) << signal;
        EXPECT_THAT(result.errors, AllOf(HasSubstr("building the original"), HasSubstr("stopping")))
            << signal;
        std::istringstream pids(read(elsewhere.path("pids")));
        std::string sleep;
        std::string shell;
        ASSERT_TRUE(pids >> sleep >> shell) << signal;
        EXPECT_FALSE(staysAlive(sleep)) << signal;
        EXPECT_FALSE(staysAlive(shell)) << signal;
        expectNothingLeft();
    }
}

TEST_F(OptimizeProgram, HandsBackWhatWasFoundWhenASignalComesDuringATrial) {
    if (!hasCompiler())
        GTEST_SKIP() << "no nvcc to compile candidates with";
    std::string text = viewProgram;
    const auto insert = [&](const std::string& before, const std::string& what) {
        text.insert(text.find(before), what);
    };
    // The second kernel has half of the threads, and ends the search when an edit of it is tried.
    insert("int main() {", R"(__global__ void shift(const float* x, float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = 1 + x[i];
}

)");
    insert("    cudaMemcpy(a.data(), dy", "    shift<<<256, 128>>>(dx, dy, 32768);\n");
    workspace.write("columns.cu", text);
    const std::string mark = elsewhere.path("pids");
    ::setenv("FAKE_MARK", mark.c_str(), 1);
    ::setenv("FAKE_EDITED", "_Z5shiftPKfPfi=terminates", 1);
    const auto result = optimize({"--json", "--write", "--build", build()}, "./columns", "auto");
    const auto end = fs::file_time_type::clock::now();
    ::unsetenv("FAKE_MARK");
    ::unsetenv("FAKE_EDITED");
    ASSERT_TRUE(fs::exists(mark)) << result.errors << result.output;
    EXPECT_LT(end - fs::last_write_time(mark), std::chrono::seconds(5));
    EXPECT_FALSE(staysAlive(read(mark))) << "the program that was held";
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.errors, HasSubstr("stopping"));
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output << result.errors;
    EXPECT_EQ(document.at("stopped"), true);
    EXPECT_EQ(document.at("written"), false);
    const auto& scale = document.at("kernels").at(0);
    EXPECT_EQ(scale.at("outcome"), "unchecked") << scale.dump(1);
    EXPECT_THAT(scale.at("why").get<std::string>(), HasSubstr("not built and checked"));
    EXPECT_GT(scale.at("search_speedup"), 1);
    EXPECT_EQ(document.at("kernels").at(1).at("outcome"), "nothing-better");
    EXPECT_EQ(document.at("kernels").at(1).at("stop"), "cancelled");
    EXPECT_THAT(document.at("diff").get<std::string>(),
                HasSubstr("-    scale<<<n / 128, 128>>>(View{dx, n}, dy, n);"));
    EXPECT_EQ(read(workspace.path("columns.cu")), text);
    expectNothingLeft();
}

TEST_F(OptimizeProgram, WritesNothingWhenASignalComesAmongEditsOfTheHostsCode) {
    const std::string text = fusible(fusionExample());
    workspace.write("columns.cu", text);
    // The signal comes while the program with the fused kernel is built.
    const auto result = optimize(
        {"--json", "--write", "--build",
         "if grep -q scaleAddBias columns.cu; then kill -INT $PPID; sleep 5; fi; " + build()});
    EXPECT_THAT(result.errors, HasSubstr("stopping"));
    const auto document = json::parse(result.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << result.output << result.errors;
    const auto& fused = document.at("host_edits").at(0);
    EXPECT_EQ(fused.at("outcome"), "not-tried") << fused.dump();
    EXPECT_THAT(fused.at("why").get<std::string>(), HasSubstr("stopped"));
    EXPECT_EQ(document.at("kernels").at(0).at("outcome"), "kept") << "it was judged before";
    EXPECT_EQ(document.at("stopped"), false);
    EXPECT_EQ(document.at("written"), false);
    EXPECT_THAT(result.errors, HasSubstr("nothing is written"));
    EXPECT_EQ(read(workspace.path("columns.cu")), text);
    expectNothingLeft();
}

TEST_F(OptimizeProgram, GoesOnAfterASignalThatIsIgnored) {
    // nohup ignores SIGHUP.
    ::signal(SIGHUP, SIG_IGN); // NOLINT(*-err33-c)
    const auto result = optimize({"--build", "kill -HUP $PPID; sleep 0.2; exit 7"});
    ::signal(SIGHUP, SIG_DFL); // NOLINT(*-err33-c)
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.errors,
                AllOf(HasSubstr("the build ended with status 7"), Not(HasSubstr("stopping"))));
}

} // namespace
} // namespace kernelskill::lsp::testing
