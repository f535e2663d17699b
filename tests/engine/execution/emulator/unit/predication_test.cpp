#include "engine/execution/emulator/compile/predication.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

/// The result for the first branch of the code.
bool isPredicated(const std::string& code) {
    const auto lines = assemblyLines(code);
    const Predication predication(lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (isBranch(lines[i]))
            return predication.isPredicated(i);
    }
    ADD_FAILURE() << "no branch in:\n" << code;
    return false;
}

std::string repeated(const std::string& line, int count) {
    std::string result;
    for (int i = 0; i < count; ++i)
        result += line;
    return result;
}

constexpr const char* access = "\tleaq\t(%rbx,%rcx), %rdi\n"
                               "\tcall\t__tsan_write4@PLT\n"
                               "\tmovss\t%xmm0, (%rbx,%rcx)\n";
/// So that the branch's target is no way out.
constexpr const char* rest = "\tcall\tks_barrier@PLT\n\tret\n";

TEST(Predication, TakesAFewInstructions) {
    EXPECT_TRUE(isPredicated(std::string("\tjle\t.L2\n") + access + access + ".L2:\n" + rest));
}

TEST(Predication, LeavesABodyOfManyInstructions) {
    EXPECT_FALSE(
        isPredicated("\tjle\t.L2\n" + repeated("\taddl\t$1, %eax\n", 40) + ".L2:\n" + rest));
}

TEST(Predication, LeavesALoop) {
    EXPECT_FALSE(isPredicated(std::string(".L1:\n") + access + "\tjne\t.L1\n" + rest));
    EXPECT_FALSE(
        isPredicated(std::string("\tjle\t.L2\n.L1:\n") + access + "\tjne\t.L1\n.L2:\n" + rest));
}

TEST(Predication, LeavesABodyThatWaitsForOthers) {
    EXPECT_FALSE(isPredicated(std::string("\tjle\t.L2\n\tcall\tks_barrier@PLT\n.L2:\n") + rest));
    EXPECT_FALSE(
        isPredicated(std::string("\tjle\t.L2\n\tcall\tks_warp_exchange@PLT\n.L2:\n") + rest));
}

TEST(Predication, TakesBothWaysOfAnIf) {
    EXPECT_TRUE(isPredicated(std::string("\tjle\t.L2\n") + access + "\tjmp\t.L3\n.L2:\n" + access +
                             ".L3:\n" + rest));
    EXPECT_FALSE(isPredicated(std::string("\tjle\t.L2\n") + access + "\tjmp\t.L3\n.L2:\n" + access +
                              "\tcall\tks_barrier@PLT\n.L3:\n" + rest));
}

TEST(Predication, TakesABodyThatWasPutOutOfTheWay) {
    const std::string after = std::string(".L3:\n") + rest + ".L2:\n";
    EXPECT_TRUE(isPredicated("\tjle\t.L2\n" + after + access + "\tjmp\t.L3\n"));
    EXPECT_FALSE(
        isPredicated("\tjle\t.L2\n" + after + repeated("\taddl\t$1, %eax\n", 40) + "\tjmp\t.L3\n"));
    EXPECT_FALSE(isPredicated("\tjle\t.L2\n" + after + "\tcall\tks_barrier@PLT\n\tjmp\t.L3\n"));
}

TEST(Predication, TakesABodyBehindWhatFollowsIt) {
    const std::string before = std::string(".L5:\n") + "\tcall\tks_barrier@PLT\n";
    EXPECT_TRUE(isPredicated(before + "\tjle\t.L5\n" + access + "\tjmp\t.L5\n"));
    EXPECT_FALSE(isPredicated(before + "\tjle\t.L5\n" + access + "\tret\n"));
    // Either body is short, and both go on at .L5.
    EXPECT_TRUE(isPredicated(std::string(".L4:\n\taddl\t$1, %eax\n") + before + "\tjle\t.L4\n" +
                             access + "\tjmp\t.L5\n"));
}

TEST(Predication, TakesConditionsInARow) {
    EXPECT_TRUE(isPredicated(std::string("\tjle\t.L2\n\tcmpl\t$3, %eax\n\tje\t.L2\n") + access +
                             ".L2:\n" + rest));
}

TEST(Predication, TakesAnEarlyExitHoweverMuchFollows) {
    EXPECT_TRUE(isPredicated("\tjge\t.L9\n" + repeated(access, 50) +
                             ".L9:\n\tcall\t__sanitizer_cov_trace_pc@PLT\n\tpopq\t%rbx\n\tret\n"));
}

TEST(Predication, LeavesAJumpThroughATable) {
    EXPECT_FALSE(isPredicated("\tjmp\t*%rax\n"));
}

TEST(Predication, ReadsTheOtherMachineToo) {
    EXPECT_TRUE(isPredicated("\tcbz\tw0, .L2\n\tadd\tw0, w0, 1\n.L2:\n\tbl\tks_barrier\n\tret\n"));
    EXPECT_FALSE(isPredicated(".L2:\n\tadd\tw0, w0, 1\n\tb.ne\t.L2\n\tret\n"));
}

} // namespace
} // namespace kernelskill::engine
