// Kernels as programs of several files write them: headers that use what stands before their
// #include, tables in files of their own, headers of several programs, pointers to pointers.
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ProgramStyles : public ::testing::Test {
protected:
    [[nodiscard]] CommandResult profile(const std::string& file,
                                        const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words{"profile", file};
        words.insert(words.end(), more.begin(), more.end());
        return runKernelskill(words, workspace.path());
    }
    /// The file's only kernel.
    [[nodiscard]] json profiled(const std::string& file) const {
        const auto result = profile(file, {"--json"});
        EXPECT_EQ(result.status, 0) << result.errors;
        return json::parse(result.output).at("kernels").at(0);
    }
    static double loadedBytes(const json& profile) {
        return profile.at("metrics").value("smsp__sass_data_bytes_mem_global_op_ld.sum", 0.0);
    }
    TemporaryWorkspace workspace;
};

TEST_F(ProgramStyles, MacrosAndTablesBeforeAnIncludeAreKnownInIt) {
    workspace.write(
        "kernels.h",
        "__constant__ int steps[] = STEPS;\n"
        "KERNEL(scale)(float* out, const float* in, int n) {\n"
        "    int i = blockIdx.x * BLOCK + threadIdx.x;\n"
        "    EACH(k, COUNT) if (i < n) out[i * COUNT + k] = in[i] * table[k] + steps[k];\n"
        "}\n");
    const std::string main = workspace.write(
        "main.cu", "#define BLOCK 128\n"
                   "static __constant__ float table[] = {1, 2, 3};\n"
                   "#define COUNT int(sizeof table / sizeof *table)\n"
                   "#define STEPS {1, 2, 3}\n"
                   "#define KERNEL(name) __global__ void name\n"
                   "#define EACH(k, n) for (int k = 0; k < (n); ++k)\n"
                   "#include \"kernels.h\"\n"
                   "#undef EACH\n#undef COUNT\n"
                   "int main() { float *a, *b; cudaMalloc(&a, 12000);\n"
                   "    cudaMalloc(&b, 4000);\n"
                   "    scale<<<(1000 + BLOCK - 1) / BLOCK, BLOCK>>>(a, b, 1000); }\n");
    for (const std::string& file : {main, workspace.path("kernels.h")}) {
        const json profile = profiled(file);
        EXPECT_EQ(profile.at("launch").at("grid"), json({8, 1, 1}));
        EXPECT_GE(loadedBytes(profile), 4000) << "the loop has no round";
        EXPECT_EQ(profile.at("metrics").value("smsp__sass_data_bytes_mem_global_op_st.sum", 0.0),
                  12000);
    }
}

TEST_F(ProgramStyles, ATableInAFileOfItsOwnIsKept) {
    workspace.write("table.inc", "1.f, 2.f,\n3.f, 4.f\n");
    workspace.write("kernels.h",
                    "__global__ void halve(float* out, const float* in, int n) {\n"
                    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "    for (int k = 0; k < WIDTH; ++k) if (i < n) out[i] = in[i] * coeff[k];\n"
                    "}\n");
    const std::string main = workspace.write(
        "main.cu", "static __constant__ float coeff[] = {\n#include \"table.inc\"\n};\n"
                   "static const float unused[] = {\n#include \"table.inc\"\n};\n"
                   "#define WIDTH int(sizeof coeff / sizeof *coeff)\n"
                   "#include \"kernels.h\"\n"
                   "int main() { float *a, *b; cudaMalloc(&a, 4000);\n"
                   "    cudaMalloc(&b, 4000); halve<<<4, 256>>>(a, b, 1000); }\n");
    for (const std::string& file : {main, workspace.path("kernels.h")})
        EXPECT_GE(loadedBytes(profiled(file)), 4000) << "the table is empty";
}

TEST_F(ProgramStyles, AHeaderOfSeveralProgramsIsReadThroughOneAndMeansTheOtherInTheOther) {
    workspace.write("shared.cuh", "template <typename T> __global__ void add(T* a, int n) {\n"
                                  "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                  "    if (i < n) a[i] += COEFF;\n}\n");
    workspace.write("one.cu", "#define COEFF 3\n#include \"shared.cuh\"\n"
                              "int main() { float* a; cudaMalloc(&a, 4000);\n"
                              "    add<float><<<4, 256>>>(a, 1000); }\n");
    workspace.write("two.cu", "#define COEFF 5\n#include \"shared.cuh\"\n"
                              "int main() { double* a; cudaMalloc(&a, 16000);\n"
                              "    add<double><<<8, 256>>>(a, 2000); }\n");
    EXPECT_EQ(loadedBytes(profiled("one.cu")), 4000);
    EXPECT_EQ(loadedBytes(profiled("two.cu")), 16000);
    EXPECT_EQ(loadedBytes(profiled("shared.cuh")), 4000);
    const auto checked = runKernelskill({"check", "shared.cuh", "--json"}, workspace.path());
    EXPECT_THAT(checked.output, HasSubstr("one.cu"));
}

TEST_F(ProgramStyles, PointersToPointersAreRefusedByName) {
    workspace.write("rows.cu", "__global__ void gather(float** rows, float* out, int n) {\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i < n) out[i] = rows[0][i] + rows[1][i];\n}\n");
    const auto rows = profile("rows.cu");
    EXPECT_EQ(rows.status, 1);
    EXPECT_THAT(rows.errors, AllOf(HasSubstr("'rows' of kernel 'gather' is a pointer to pointers"),
                                   HasSubstr("rows.cu:1"), HasSubstr("within its own program")));
    workspace.write("args.cu", "struct Args { float* a[3]; int n; };\n"
                               "__global__ void sum(Args args, float* out) {\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i < args.n) out[i] = args.a[0][i] + args.a[2][i];\n}\n");
    EXPECT_THAT(profile("args.cu").errors,
                HasSubstr("'args' of kernel 'sum' is a class with pointers inside"));
}

} // namespace
} // namespace kernelskill::lsp::testing
