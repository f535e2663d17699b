#include "tests/gate/planted_file.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kernelskill::testing {
namespace {

const std::string kernel = "=== kernel twice\nint a;\nint b;\n\n";

TEST(PlantedFile, ReadsKernelsAndTheirEdits) {
    const auto programs = parsePlanted(kernel + "=== wrong out of bounds: another name\n"
                                                "--- kernel second\n"
                                                "--- numerics reassociates\n"
                                                "--- from\nint a;\nint b;\n--- to\nint c;\n\n"
                                                "=== right: nothing\n--- from\nb;\n--- to\n"
                                                "=== equal sizes: spaces\n"
                                                "--- because Spaces say nothing.\n"
                                                "--- from\nint a\n--- to\nint  a\n"
                                                "--- from\nint b\n--- to\nint  b\n",
                                       "x.txt");
    ASSERT_TRUE(programs) << programs.error().describe();
    ASSERT_EQ(programs->size(), 1u);
    EXPECT_EQ(programs->front().name, "twice");
    EXPECT_EQ(programs->front().text, "int a;\nint b;\n\n");
    ASSERT_EQ(programs->front().cases.size(), 3u);

    const PlantedCase& wrong = programs->front().cases[0];
    EXPECT_EQ(wrong.kind, PlantedKind::Wrong);
    EXPECT_EQ(wrong.mistake, "out of bounds");
    EXPECT_EQ(wrong.name, "another name");
    EXPECT_EQ(wrong.kernel, "second");
    EXPECT_EQ(wrong.accuracy, skills::Accuracy(skills::Numerics::Reassociates));
    EXPECT_EQ(wrong.edits, (std::vector<analysis::TextEdit>{{{0, 13}, "int c;"}}));

    const PlantedCase& right = programs->front().cases[1];
    EXPECT_EQ(right.kind, PlantedKind::Right);
    EXPECT_EQ(right.mistake, "");
    EXPECT_EQ(right.accuracy, skills::Accuracy());
    EXPECT_EQ(right.edits, (std::vector<analysis::TextEdit>{{{11, 13}, ""}}));

    const PlantedCase& equal = programs->front().cases[2];
    EXPECT_EQ(equal.kind, PlantedKind::Equal);
    EXPECT_EQ(equal.reason, "Spaces say nothing.");
    EXPECT_EQ(equal.edits,
              (std::vector<analysis::TextEdit>{{{0, 5}, "int  a"}, {{7, 12}, "int  b"}}));
}

/// A text of another form, its line that the error names, and words of the error.
struct Malformed {
    std::string text;
    std::string line;
    std::string what;
};

class MalformedPlantedFile : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedPlantedFile, IsRefusedWithItsLine) {
    const auto programs = parsePlanted(GetParam().text, "x.txt");
    ASSERT_FALSE(programs);
    EXPECT_EQ(programs.error().kind, ErrorKind::InvalidInput);
    EXPECT_EQ(programs.error().where, "x.txt:" + GetParam().line);
    EXPECT_NE(programs.error().what.find(GetParam().what), std::string::npos)
        << programs.error().what;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, MalformedPlantedFile,
    ::testing::Values(
        Malformed{"int a;\n", "1", "belongs to nothing"},
        Malformed{"--- from\n", "1", "belongs to no edit"},
        Malformed{kernel + "--- from\n", "5", "belongs to no edit"},
        Malformed{"=== right: x\n", "1", "before the first kernel"},
        Malformed{kernel + kernel, "5", "two kernels 'twice'"},
        Malformed{kernel + "=== right\n", "5", "no name"},
        Malformed{kernel + "=== odd: x\n", "5", "neither wrong, equal nor right"},
        Malformed{kernel + "=== right sizes: x\n", "5", "neither wrong, equal nor right"},
        Malformed{kernel + "=== right: x\n--- to\n", "6", "'to' says nothing"},
        Malformed{kernel + "=== right: x\n--- numerics loose\n", "6", "'numerics loose'"},
        Malformed{kernel + "=== right: x\n", "5", "replaces nothing"},
        Malformed{kernel + "=== right: x\n--- from\nint c;\n--- to\n", "6", "no 'int c;'"},
        Malformed{kernel + "=== right: x\n--- from\n--- to\nint c;\n", "6", "no ''"},
        Malformed{kernel + "=== right: x\n--- from\nint a\n--- to\n--- from\na;\n--- to\n", "5",
                  "overlap"},
        Malformed{kernel + "=== equal sizes: x\n--- from\na\n--- to\na\n", "5", "has a reason"},
        Malformed{kernel + "=== right: x\n--- because y\n--- from\na\n--- to\na\n", "5",
                  "has a reason"},
        Malformed{kernel + "=== right: x\n--- from\na\n--- to\na\n=== right: x\n", "10",
                  "two edits 'x'"}));

TEST(PlantedFile, NamesAFileThatIsNotThere) {
    const auto programs = readPlanted("/nonexistent.txt");
    ASSERT_FALSE(programs);
    EXPECT_EQ(programs.error().where, "/nonexistent.txt");
}

/// docs/measurements/gate.md states these numbers.
TEST(PlantedFile, HoldsTheEditsOfTheTrial) {
    std::map<PlantedKind, std::size_t> counts;
    std::size_t kernels = 0;
    const auto folder = std::filesystem::path(paths::sourceFolder) / "tests/gate/planted";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const auto programs = readPlanted(entry.path());
        ASSERT_TRUE(programs) << programs.error().describe();
        kernels += programs->size();
        for (const PlantedProgram& program : *programs)
            for (const PlantedCase& one : program.cases)
                ++counts[one.kind];
    }
    EXPECT_EQ(kernels, 36u);
    EXPECT_EQ(counts[PlantedKind::Wrong], 198u);
    EXPECT_EQ(counts[PlantedKind::Equal], 9u);
    EXPECT_EQ(counts[PlantedKind::Right], 58u);
}

} // namespace
} // namespace kernelskill::testing
