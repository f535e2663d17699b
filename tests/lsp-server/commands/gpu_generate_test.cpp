// Generated kernels and launchers on a GPU, compiled by nvcc and compared with their host function.
// Skips where there is no GPU or no nvcc.
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/wait.h>

namespace kernelskill::lsp {
namespace {

using ::testing::HasSubstr;

constexpr const char* functions = R"(#include <cmath>
#include <cstdio>
#include <vector>

void saxpy(int n, float a, const float* x, float* y) {
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

void matmul(int m, int n, int k, const double* a, const double* b, double* c) {
    for (int row = 0; row < m; row++) {
        for (int column = 0; column < n; column++) {
            double sum = 0.0;
            for (int i = 0; i < k; i++)
                sum += a[row * k + i] * b[i * n + column];
            c[row * n + column] = sum;
        }
    }
}

void interior(int rows, int columns, const float* in, float* out) {
    for (int y = 1; y < rows - 1; y++)
        for (int x = 1; x < columns - 1; x++)
            out[y * columns + x] = 0.25f * (in[(y - 1) * columns + x] + in[(y + 1) * columns + x] +
                                            in[y * columns + x - 1] + in[y * columns + x + 1]);
}

void swap_pairs(int n, float* x) {
    for (int i = 0; i < n - 1; i += 2) {
        float first = x[i];
        x[i] = x[i + 1];
        x[i + 1] = first;
    }
}

float dot(int n, const float* a, const float* b) {
    float sum = 0;
    for (int i = n - 1; i >= 0; i--)
        sum += a[i] * b[i];
    return sum;
}

void softmax(int n, const float* x, float* y) {
    float top = -1000;
    for (int i = 0; i < n; i++)
        top = fmaxf(top, x[i]);
    float sum = 0;
    for (int i = 0; i < n; i++) {
        y[i] = expf(x[i] - top);
        sum += y[i];
    }
    const float scale = 1 / sum;
    for (int i = 0; i < n; i++)
        y[i] *= scale;
}

double spread(int rows, int columns, const double* m, double* total) {
    double least = 1000, greatest = -1000, sum = 5;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            if (m[r * columns + c] < least)
                least = m[r * columns + c];
            greatest = fmax(greatest, m[r * columns + c]);
            sum += m[r * columns + c];
        }
    *total = sum;
    return greatest - least;
}
)";

constexpr const char* comparison = R"(
template <typename T> std::vector<T> values(int count) {
    std::vector<T> result(count);
    for (int i = 0; i < count; i++)
        result[i] = T((i * 37) % 101) / 50 - 1;
    return result;
}
template <typename T> int compare(const char* name, const std::vector<T>& a, const std::vector<T>& b) {
    double worst = 0;
    for (size_t i = 0; i < a.size(); i++)
        worst = std::fmax(worst, std::fabs(double(a[i]) - double(b[i])));
    std::printf("%s differs by %g\n", name, worst);
    return worst < 1e-4 ? 0 : 1;
}
int main() {
    int wrong = 0;
    for (int n : {0, 1, 255, 100003}) {
        auto x = values<float>(n), y = values<float>(n), z = y;
        saxpy(n, 1.5f, x.data(), y.data());
        wrong += saxpy_gpu(n, 1.5f, x.data(), z.data()) != cudaSuccess;
        wrong += compare("saxpy", y, z);
    }
    for (int n : {1, 33, 130}) {
        const int m = n + 7, k = n + 3;
        auto a = values<double>(m * k), b = values<double>(k * n), c = values<double>(m * n), d = c;
        matmul(m, n, k, a.data(), b.data(), c.data());
        wrong += matmul_gpu(m, n, k, a.data(), b.data(), d.data()) != cudaSuccess;
        wrong += compare("matmul", c, d);
    }
    for (int n : {2, 3, 301}) {
        auto in = values<float>(n * (n + 5)), out = values<float>(n * (n + 5)), other = out;
        interior(n, n + 5, in.data(), out.data());
        wrong += interior_gpu(n, n + 5, in.data(), other.data()) != cudaSuccess;
        wrong += compare("interior", out, other);
    }
    for (int n : {0, 1, 2, 255, 100003}) {
        auto x = values<float>(n), y = x;
        swap_pairs(n, x.data());
        wrong += swap_pairs_gpu(n, y.data()) != cudaSuccess;
        wrong += compare("swap_pairs", x, y);
    }
    for (int n : {0, 1, 33, 769, 1000003}) {
        auto a = values<float>(n), b = values<float>(n);
        for (float& value : b)
            value *= 0.01f;
        std::vector<float> one{dot(n, a.data(), b.data())}, other(1), again(1);
        wrong += dot_gpu(n, a.data(), b.data(), other.data()) != cudaSuccess;
        wrong += dot_gpu(n, a.data(), b.data(), again.data()) != cudaSuccess;
        one[0] /= n + 1, other[0] /= n + 1, again[0] /= n + 1;
        wrong += compare("dot", one, other) + (other[0] != again[0]);
        std::vector<float> y(n), z(n);
        softmax(n, a.data(), y.data());
        wrong += softmax_gpu(n, a.data(), z.data()) != cudaSuccess;
        wrong += compare("softmax", y, z);
    }
    for (int n : {0, 1, 33, 1500}) {
        const int columns = n / 2 + 3;
        auto m = values<double>(n * columns);
        std::vector<double> one(2), other(2);
        one[0] = spread(n, columns, m.data(), &one[1]);
        wrong += spread_gpu(n, columns, m.data(), &other[1], &other[0]) != cudaSuccess;
        wrong += compare("spread", one, other);
    }
    return wrong;
}
)";

struct Outcome {
    int status = -1;
    std::string output;
};

class GpuGenerate : public ::testing::Test {
protected:
    void SetUp() override {
        if (run("nvidia-smi -L").status != 0)
            GTEST_SKIP() << "no GPU to test on";
        if (run("PATH=\"$PATH:/usr/local/cuda/bin\" nvcc --version").status != 0)
            GTEST_SKIP() << "no nvcc";
    }

    /// Beside this test, or in the bin/ beside its folder when they were carried somewhere.
    static std::string server() {
        const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
        for (const auto& place : {here / "kernelskill", here.parent_path() / "bin/kernelskill"}) {
            if (std::filesystem::exists(place))
                return place.string();
        }
        return "kernelskill";
    }

    Outcome run(const std::string& command) const {
        const auto line = "cd '" + folder_.path().string() + "' && { " + command + "; } 2>&1";
        Outcome outcome;
        std::FILE* pipe = ::popen(line.c_str(), "r"); // NOLINT: a test's own words
        char part[4096];
        for (std::size_t count = 0; (count = std::fread(part, 1, sizeof part, pipe)) > 0;)
            outcome.output.append(part, count);
        outcome.status = WEXITSTATUS(::pclose(pipe));
        return outcome;
    }

    testing::TemporaryFolder folder_;
};

TEST_F(GpuGenerate, LaunchersComputeWhatTheirFunctionsDo) {
    std::ofstream(folder_.path() / "loops.cu") << functions;
    // From the last to the first: a kernel moves what stands behind it.
    for (const char* name :
         {" spread(", " softmax(", " dot(", " swap_pairs(", " interior(", " matmul(", " saxpy("}) {
        const std::string_view before =
            std::string_view(functions).substr(0, std::string_view(functions).find(name));
        const auto line = std::to_string(std::ranges::count(before, '\n') + 1);
        const Outcome generated = run("'" + server() + "' generate loops.cu:" + line + " --write");
        ASSERT_EQ(generated.status, 0) << generated.output;
    }
    std::ofstream(folder_.path() / "loops.cu", std::ios::app) << comparison;
    const Outcome compiled = run("PATH=\"$PATH:/usr/local/cuda/bin\" nvcc -o loops loops.cu");
    ASSERT_EQ(compiled.status, 0) << compiled.output;
    const Outcome ran = run("./loops");
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("interior differs by"));
    EXPECT_THAT(ran.output, HasSubstr("spread differs by"));
    std::printf("%s", ran.output.c_str());
}

} // namespace
} // namespace kernelskill::lsp
