#include "tests/engine/review/host_verdict.h"

#include "analysis/parse/translation_unit.h"
#include "engine/review/host/host_order.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace kernelskill::engine {

const analysis::FileModel& parsed(const std::string& body) {
    static std::map<std::string, analysis::FileModel> known;
    if (const auto found = known.find(body); found != known.end())
        return found->second;
    static const auto toolchain =
        analysis::findToolchain({.cudaPath = std::nullopt, .ignoreToolkit = true});
    EXPECT_TRUE(toolchain);
    const std::string text =
        "#include <algorithm>\n#include <cuda_runtime.h>\n#include <cstdio>\n#include "
        "<utility>\nint other(int); dim3 gridOf(int);\n"
        "void use(float*);\nvoid renew(float*&);\n__device__ float shared[32];\n"
        "__global__ void step(float* x, float by, int n) { if (threadIdx.x < n) x[threadIdx.x] += "
        "by; }\n"
        "__global__ void add(const float* x, float* y, int n) { if (threadIdx.x < n) "
        "y[threadIdx.x] += x[threadIdx.x]; }\n"
        "__global__ void slice(float* x, float by, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) x[i] += by; }\n"
        "__global__ void say(float* x) { printf(\"%f\\n\", x[0]); }\n"
        "__global__ void keep(float* x) { shared[threadIdx.x] = x[threadIdx.x]; }\n"
        "void run(float* a, float* b, int n, float by, cudaStream_t mine, float* __restrict__ p, "
        "float* __restrict__ q) {\n" +
        body + "}\n";
    const std::string path = std::string(paths::sourceFolder) + "/examples/test.cu";
    auto file = analysis::analyzeFile(
        path, text, analysis::CompileCommands().inferred(path, paths::sourceFolder), *toolchain);
    EXPECT_TRUE(file);
    for (const analysis::Diagnostic& diagnostic : file->diagnostics)
        EXPECT_NE(diagnostic.severity, analysis::Severity::Error) << diagnostic.message;
    return known.emplace(body, std::move(*file)).first->second;
}

std::string detailOn(const std::string& before, const std::string& after) {
    const analysis::FileModel& original = parsed(before);
    const analysis::FileModel& edited = parsed(after);
    EXPECT_TRUE(changesHostOrder(original, edited));
    const CheckResult result = checkHostOrder(original, edited);
    if (result)
        return result->detail;
    return std::string(spelling(result.error().status)) +
           (result.error().isAboutEdit ? ": " : ", not about the edit: ") + result.error().detail;
}

std::string verdictOn(const std::string& before, const std::string& after) {
    const CheckResult result = checkHostOrder(parsed(before), parsed(after));
    return result ? "" : detailOn(before, after);
}

} // namespace kernelskill::engine
