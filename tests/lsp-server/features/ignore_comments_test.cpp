// Tests which findings comments ignore, and where such comments are put.
#include "lsp-server/features/ignored_findings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::lsp {
namespace {

analysis::Diagnostic findingAt(const std::string& text, const std::string& needle,
                               const std::string& code = "race") {
    analysis::Diagnostic finding;
    finding.file = "a.cu";
    finding.code = code;
    finding.span.begin = finding.span.end = static_cast<std::uint32_t>(text.find(needle));
    return finding;
}

/// The codes of the findings at `needle` that no comment ignores.
std::vector<std::string> leftIn(const std::string& text, const std::string& code = "race",
                                const std::string& needle = "x[i]") {
    std::vector findings{findingAt(text, needle, code)};
    ignoreFindings(findings, "a.cu", analysis::SourceText(text));
    std::vector<std::string> codes;
    for (const analysis::Diagnostic& finding : findings)
        codes.push_back(finding.code);
    return codes;
}

using Codes = std::vector<std::string>;

TEST(IgnoreComments, HoldForTheirLineOrTheNextOneWithCode) {
    EXPECT_EQ(leftIn("x[i] = 1; // kernelskill: ignore race\n"), Codes{});
    EXPECT_EQ(leftIn("// kernelskill: ignore race\n\n// why\nx[i] = 1;\n"), Codes{});
    EXPECT_EQ(leftIn("/* kernelskill: ignore bank-conflicts,\n * race */\nx[i] = 1;\n"), Codes{});
    EXPECT_EQ(leftIn("y = 2; // kernelskill: ignore race\nx[i] = 1;\n"), Codes{"race"});
    EXPECT_EQ(leftIn("// kernelskill: ignore race\ny = 2;\nx[i] = 1;\n"), Codes{"race"});
}

TEST(IgnoreComments, HoldForTheFindingsThatTheyName) {
    EXPECT_EQ(leftIn("x[i] = 1; // kernelskill: ignore misaligned\n"), Codes{"race"});
    EXPECT_EQ(leftIn("x[i] = 1; // kernelskill: ignore static-shared-size\n", "static-shared-size"),
              (Codes{"static-shared-size", "ignore-comment"}));
    EXPECT_EQ(leftIn("x[i] = 1; // kernelskill: ignore\n"), (Codes{"race", "ignore-comment"}));
    EXPECT_EQ(leftIn("x[i] = \"// kernelskill: ignore race\";\n"), Codes{"race"});
}

TEST(IgnoreComments, ArePutAboveTheLine) {
    const std::string text = "{\n    x[i] = 1;\n}\n";
    const auto edit = ignoringComment(findingAt(text, "x[i]"), analysis::SourceText(text));
    ASSERT_TRUE(edit);
    EXPECT_EQ(edit->newText, "    // kernelskill: ignore race\n");
    EXPECT_EQ(edit->span.begin, 2u);
    EXPECT_EQ(edit->span.end, 2u);
}

TEST(IgnoreComments, AreNotPutIntoAMacro) {
    const std::string text = "#define STORE \\\n    x[i] = 1\n";
    EXPECT_FALSE(ignoringComment(findingAt(text, "x[i]"), analysis::SourceText(text)));
}

} // namespace
} // namespace kernelskill::lsp
