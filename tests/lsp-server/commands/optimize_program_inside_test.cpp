// `kernelskill optimize -- ./program` holds the program at its kernels and searches them there.
#include "tests/lsp-server/commands/optimize_program_workspace.h"

#include <gmock/gmock.h>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

class OptimizeProgramInside : public OptimizeProgramWorkspace {};

TEST_F(OptimizeProgramInside, SearchesInsideTheProgram) {
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

TEST_F(OptimizeProgramInside, SaysWhereAHeldProgramPrintsOtherwiseThanAlone) {
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

TEST_F(OptimizeProgramInside, SearchesInsideTheProgramWhatOnlyItCanLaunch) {
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

TEST_F(OptimizeProgramInside, SearchesInsideTheProgramWhatTakesPointersToPointers) {
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

TEST_F(OptimizeProgramInside, SearchesEachInstantiationOfATemplate) {
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

TEST_F(OptimizeProgramInside, KeepsNoEditThatIsWrongOrSlowerAtAnotherInstantiation) {
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

TEST_F(OptimizeProgramInside, SaysWhyAKernelIsNotSearchedInsideTheProgram) {
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

TEST_F(OptimizeProgramInside, SaysWhatATrialCannotUndo) {
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

} // namespace
} // namespace kernelskill::lsp::testing
