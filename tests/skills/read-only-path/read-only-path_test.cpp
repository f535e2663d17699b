#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "read-only-path";

/// A kernel over a table, places, values and results with `work`.
std::string kernel(const std::string& work, const std::string& value = "float") {
    const std::string parameters = "const " + value + "* table, const int* place, const " + value +
                                   "* x, " + value + "* out, int n, int k";
    return "__global__ void f(" + parameters + ") {\n" + work + "}\nvoid run(" + parameters +
           ") {\n    f<<<(n + 255) / 256, 256>>>(table, place, x, out, n, k);\n}\n";
}

const std::string index = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

TEST(ReadOnlyPath, StreamsBesideAGather) {
    checkApplicable(
        id, kernel(index + "    if (i >= n) return;\n    out[i] = x[i] * table[place[i]];\n"),
        kernel(index + "    if (i >= n) return;\n    __stcs(&out[i], __ldcs(&x[i]) * "
                       "table[__ldcs(&place[i])]);\n"));
}

TEST(ReadOnlyPath, KeepsWhatNeighboursByIndexComeBackTo) {
    // The neighbours of a picture's element, by tables of rows that end at its border: all columns
    // read the tables.
    const std::string sum =
        "(table[place[i % k] + i / k * k] + table[place[i % k + k] + i / k * k] - table[i])";
    checkApplicable(id,
                    kernel(index + "    if (i >= n) return;\n    out[i] = x[i] * " + sum + ";\n"),
                    kernel(index + "    if (i >= n) return;\n    __stcs(&out[i], __ldcs(&x[i]) * " +
                           sum + ");\n"));
}

TEST(ReadOnlyPath, FollowsColumnsOfASparseMatrix) {
    // ELLPACK: the entries of a row are n apart, and those of neighbouring rows side by side.
    checkApplicable(
        id,
        kernel(index +
               "    float sum = 0;\n    if (i < n) {\n        for (int j = 0; j < k; ++j) {\n"
               "            int at = j * n + i;\n            sum += x[at] * "
               "table[place[at]];\n        }\n        out[i] = sum;\n    }\n"),
        kernel(index +
               "    float sum = 0;\n    if (i < n) {\n        for (int j = 0; j < k; ++j) {\n"
               "            int at = j * n + i;\n            sum += __ldcs(&x[at]) * "
               "table[__ldcs(&place[at])];\n        }\n        __stcs(&out[i], sum);\n"
               "    }\n"));
}

TEST(ReadOnlyPath, TakesGridStrides) {
    checkApplicable(
        id,
        kernel("    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
               "blockDim.x)\n        out[i] += table[place[i]];\n"),
        kernel("    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
               "blockDim.x)\n        out[i] += table[__ldcs(&place[i])];\n"));
}

TEST(ReadOnlyPath, TakesPointersToElements) {
    checkApplicable(id,
                    kernel(index + "    const float* from = x + i;\n    float* to = out + i;\n"
                                   "    *to = *from - table[place[i]];\n"),
                    kernel(index + "    const float* from = x + i;\n    float* to = out + i;\n"
                                   "    __stcs(to, __ldcs(from) - table[__ldcs(&place[i])]);\n"));
}

TEST(ReadOnlyPath, TakesSeveralPlanesOfAnArray) {
    checkApplicable(
        id,
        kernel(index + "    double sum = table[place[i]] * x[i] + table[place[i + n]] * x[i + n];\n"
                       "    out[i] = sum;\n    out[n + i] = (sum + 1);\n",
               "double"),
        kernel(index + "    double sum = table[__ldcs(&place[i])] * __ldcs(&x[i]) + "
                       "table[__ldcs(&place[i + n])] * __ldcs(&x[i + n]);\n    __stcs(&out[i], "
                       "sum);\n    __stcs(&out[n + i], (sum + 1));\n",
               "double"));
}

TEST(ReadOnlyPath, LeavesWhatIsReadAgainAlone) {
    checkApplicable(id, kernel(index + "    out[i] = x[i] + x[i + 1] - table[place[i]];\n"),
                    kernel(index + "    __stcs(&out[i], x[i] + x[i + 1] - "
                                   "table[__ldcs(&place[i])]);\n"));
}

TEST(ReadOnlyPath, LeavesRowsOfALaneAlone) {
    const std::string after = appliedText(
        id,
        kernel(index + "    float sum = 0;\n    for (int j = 0; j < k; ++j)\n        sum += x[i * "
                       "k + j];\n    out[i] = sum * table[place[i]];\n"));
    EXPECT_TRUE(after.contains("sum += x[i * k + j];")) << after;
}

class ReadOnlyPathGates : public testing::TestWithParam<GateCase> {};

TEST_P(ReadOnlyPathGates, Refuse) {
    checkNotApplicable(id, GetParam().source, GetParam().gate, GetParam().compiled);
}

INSTANTIATE_TEST_SUITE_P(
    Each, ReadOnlyPathGates,
    testing::Values(
        GateCase{"NoGather", "no-gather", kernel(index + "    out[i] = x[i] * table[i];\n")},
        GateCase{"WrittenTable", "no-gather",
                 kernel(index + "    out[place[i]] += x[i] * table[i];\n")},
        GateCase{"RowsOfATable", "no-gather",
                 kernel("    int j = place[blockIdx.x];\n    out[blockIdx.x * k + threadIdx.x] = "
                        "table[j * k + threadIdx.x];\n")},
        GateCase{"NoStreams", "no-streams",
                 kernel("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    float sum = 0;\n"
                        "    for (int j = 0; j < k; ++j)\n        sum += table[place[i * k + j]];\n"
                        "    out[i] = sum;\n")},
        GateCase{"ReadOnlyLoads", "no-streams",
                 kernel(index + "    out[i] = table[__ldg(&place[i])];\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
