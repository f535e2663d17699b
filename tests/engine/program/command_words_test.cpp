#include "analysis/source/json.h"
#include "engine/program/command_words.h"
#include "engine/program/json_with_comments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CommandWords, APlainLineIsRunWithoutAShell) {
    EXPECT_THAT(commandWords("  ./saxpy 1024 'two words' \"a b\" --n=3 "),
                ElementsAre("./saxpy", "1024", "two words", "a b", "--n=3"));
    EXPECT_THAT(commandWords("./a 'costs $5' a~b c#d"),
                ElementsAre("./a", "costs $5", "a~b", "c#d"));
    EXPECT_THAT(commandWords(" \t"), IsEmpty());
}

TEST(CommandWords, ALineThatAShellReadsInAnotherWayIsLeftToIt) {
    for (const char* line :
         {"make && ./a", "./a > out", "./a $N", "./a \"$N\"", "./a `date`", "./a *.txt", "N=1 ./a",
          "cd x; ./a", "~/a", "./a & wait", "# nothing", "exit 3"})
        EXPECT_THAT(commandWords(line), ElementsAre("/bin/sh", "-c", line));
}

TEST(CommandWords, TheTextOfWordsIsSplitIntoThemAgain) {
    const std::vector<std::string> words{"./a b", "it's", "", "x=1", "$HOME", "*"};
    EXPECT_EQ(commandWords(commandText(words)), words);
    EXPECT_EQ(commandText({"/bin/sh", "-c", "a && b"}), "a && b");
}

TEST(CommandWords, CommandsOneAfterAnotherStopAtTheFirstFailure) {
    EXPECT_THAT(joinedCommands({{"make", "a b"}}), ElementsAre("make", "a b"));
    EXPECT_THAT(joinedCommands({{"cd", "a b"}, {"/bin/sh", "-c", "x || y"}, {"make"}}),
                ElementsAre("/bin/sh", "-c", "cd 'a b' && ( x || y ) && make"));
    EXPECT_THAT(joinedCommands({}), IsEmpty());
}

TEST(JsonWithComments, CommentsAndLastCommasAreBlanks) {
    const std::string text = "\xEF\xBB\xBF{ // a, \"b\"\n \"c\": [1, 2, /* ] */ ], "
                             "\"d\": \"// no, /* comment */ ,]\", \"e\\\"//\": 1, // end\n}";
    const std::string plain = plainJson(text);
    EXPECT_EQ(plain.size(), text.size());
    EXPECT_EQ(
        nlohmann::json::parse(plain, nullptr, false),
        nlohmann::json::parse(R"({"c": [1, 2], "d": "// no, /* comment */ ,]", "e\"//": 1})"));
}

TEST(JsonWithComments, UnfinishedTextsStayWithinThemselves) {
    for (const char* text : {"", "/", "/*", "//", "\"", "\"\\", ",", "[,", "{\"a\": /* "})
        EXPECT_EQ(plainJson(text).size(), std::string_view(text).size());
}

} // namespace
} // namespace kernelskill::engine
