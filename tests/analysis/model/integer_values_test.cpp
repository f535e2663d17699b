#include "analysis/model/integer_values.h"
#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace kernelskill::analysis {
namespace {

/// Takes every initialiser for a fixed value.
class Initialisers : public IntegerValues {
public:
    using IntegerValues::IntegerValues;

private:
    [[nodiscard]] ExprId fixedValue(VariableId id) const override {
        return body().variable(id).init;
    }
};

struct Case {
    std::string grid;
    KnownExtents extents;
    friend std::ostream& operator<<(std::ostream& out, const Case& shown) {
        return out << shown.grid;
    }
};

class KnownGrid : public ::testing::TestWithParam<Case> {};

TEST_P(KnownGrid, HasItsExtents) {
    const FileModel model = testing::analyze("#include <algorithm>\n"
                                             "#include <cmath>\n"
                                             "__global__ void k() {}\n"
                                             "dim3 gridFor(int, int);\n"
                                             "struct Shape { dim3 grid; };\n"
                                             "void run(int n, dim3 given, Shape shape) {\n"
                                             "  const int tile = 16;\n"
                                             "  const unsigned wide = 3000000000u;\n"
                                             "  dim3 first(tile * 2, n);\n"
                                             "  const dim3& same = first;\n"
                                             "  k<<<" +
                                             GetParam().grid + ", 32>>>();\n}\n");
    ASSERT_FALSE(model.hostFunctions.empty());
    const LaunchSite& launch = model.kernels.at(0).launches.at(0);
    EXPECT_EQ(Initialisers(model.hostFunctions.at(0).body).extents(launch.grid),
              GetParam().extents);
}

INSTANTIATE_TEST_SUITE_P(
    IntegerValues, KnownGrid,
    ::testing::Values(
        Case{"7", {7, 1, 1}}, Case{"n", {std::nullopt, 1, 1}}, Case{"tile", {16, 1, 1}},
        Case{"(tile + 100 - 1) / tile", {7, 1, 1}}, Case{"std::min(tile, 4)", {4, 1, 1}},
        Case{"-(-tile)", {16, 1, 1}}, Case{"tile << 2", {64, 1, 1}},
        Case{"1 << 31", {std::nullopt, 1, 1}}, Case{"wide * 2", {std::nullopt, 1, 1}},
        Case{"tile * (1 << 30)", {std::nullopt, 1, 1}}, Case{"(int)tile", {16, 1, 1}},
        Case{"(int)ceil((float)tile / 3)", {6, 1, 1}},
        Case{"(unsigned)std::floor(tile * 0.3) + 1", {5, 1, 1}},
        Case{"dim3(ceil(n / 8.0), ceilf(100 / 8.0f))", {std::nullopt, 13, 1}},
        Case{"(int)(tile / 0.0)", {std::nullopt, 1, 1}},
        Case{"(int)sqrt(16.0)", {std::nullopt, 1, 1}}, Case{"tile / 0", {std::nullopt, 1, 1}},
        Case{"dim3(2, tile)", {2, 16, 1}}, Case{"dim3{2, 3, 4}", {2, 3, 4}},
        Case{"first", {32, std::nullopt, 1}}, Case{"same", {32, std::nullopt, 1}},
        Case{"dim3(first)", {32, std::nullopt, 1}}, Case{"first.x", {32, 1, 1}},
        Case{"dim3(first.x, first.z)", {32, 1, 1}}, Case{"given", {}}, Case{"shape.grid", {}},
        Case{"gridFor(2, 3)", {}}, Case{"n > 1 ? first : given", {}}));

} // namespace
} // namespace kernelskill::analysis
