/// Grid-stride loops as kernels with a thread for each element, before and after.
#include "skills/schedule/element_threads.h"
#include "tests/skills/schedule/rewritten_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

std::string elementText(const std::string& source) {
    return rewrittenText(elementThreads, source);
}

const std::string head = "__global__ void k(const float* x, float* y, int m, int n) {\n";
const std::string tail = "}\nvoid launch(const float* x, float* y, int rows, size_t columns) {\n"
                         "    k<<<80, 256>>>(x, y, rows, columns);\n}\n";
const std::string strided = "    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < n; "
                            "j += gridDim.x * blockDim.x)";

TEST(ElementThreads, OfColumns) {
    EXPECT_EQ(elementText(head + strided + R"( {
        float sum = 0.0f; // of a column
        for (int i = 0; i < m; ++i)
            sum += x[i * n + j];
        y[j] = sum;
    }
)" + tail),
              head + R"(    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) {
        float sum = 0.0f; // of a column
        for (int i = 0; i < m; ++i)
            sum += x[i * n + j];
        y[j] = sum;
    }
}
void launch(const float* x, float* y, int rows, size_t columns) {
    k<<<static_cast<int>(columns) / 256 + 1, 256>>>(x, y, rows, columns);
}
)");
}

TEST(ElementThreads, WithAStrideAndALimitOfTheirOwn) {
    EXPECT_EQ(elementText(R"(struct Shape {
    int m, n;
};
__global__ void k(const float* x, float* y, Shape shape) {
    const int stride = gridDim.x * blockDim.x; // of the grid
    const size_t total = (size_t)shape.m * shape.n;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += stride) {
        if (x[i] < 0.0f)
            continue;
        y[i] = x[i];
    }
}
void launch(const float* x, float* y, Shape s) {
    dim3 block(128), grid(s.m);
    k<<<grid, block>>>(x, y, s);
}
)"),
              R"(struct Shape {
    int m, n;
};
__global__ void k(const float* x, float* y, Shape shape) {
    // of the grid
    const size_t total = (size_t)shape.m * shape.n;
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < total) {
        if (x[i] < 0.0f)
            return;
        y[i] = x[i];
    }
}
void launch(const float* x, float* y, Shape s) {
    dim3 block(128), grid(s.m);
    k<<<((size_t)s.m * s.n) / block.x + 1, block>>>(x, y, s);
}
)");
}

TEST(ElementThreads, LeavesOthers) {
    const auto loop = [](const std::string& body) { return strided + " {\n" + body + "    }\n"; };
    const std::vector<std::string> kernels = {
        // The rounds of a thread add to one variable.
        head + "    float sum = 0.0f;\n" + loop("        sum += x[j];\n") + "    y[0] = sum;\n" +
            tail,
        // A round reads what another round has stored.
        head + loop("        y[j] = j >= 20480 ? y[j - 20480] + x[j] : x[j];\n") + tail,
        // Two rounds of a thread change one element.
        head + loop("        y[j % 20480] += x[j];\n") + tail,
        // A round reads threadIdx.
        head + loop("        y[j] = x[j] + threadIdx.x;\n") + tail,
        head + "    int t = blockIdx.x * blockDim.x + threadIdx.x;\n" +
            loop("        y[j] = x[t];\n") + tail,
        // A round reads gridDim.
        head + "    int t = gridDim.x;\n" + loop("        y[j] = x[j] + t;\n") + tail,
        // A round ends the loop.
        head + loop("        if (x[j] < 0.0f)\n            break;\n        y[j] = x[j];\n") + tail,
        // The host code cannot compute the limit of the loop.
        "__global__ void k(const int* n, float* y) {\n    for (int j = blockIdx.x * blockDim.x + "
        "threadIdx.x; j < n[0]; j += gridDim.x * blockDim.x)\n        y[j] = 0.0f;\n}\n"
        "void launch(const int* n, float* y) {\n    k<<<80, 256>>>(n, y);\n}\n",
        // An argument of the launch has a side effect.
        head + loop("        y[j] = x[j];\n") +
            "}\nint next();\nvoid launch(const float* x, float* y) {\n"
            "    k<<<80, 256>>>(x, y, next(), next());\n}\n",
        // The grid may have further axes.
        head + loop("        y[j] = x[j];\n") +
            "}\nvoid launch(const float* x, float* y, dim3 grid, int n) {\n"
            "    k<<<grid, 256>>>(x, y, n, n);\n}\n",
        // The file launches no such kernel.
        head + loop("        y[j] = x[j];\n") + "}\n",
    };
    for (const std::string& kernel : kernels)
        EXPECT_EQ(elementText(kernel), kernel);
}

} // namespace
} // namespace kernelskill::skills
