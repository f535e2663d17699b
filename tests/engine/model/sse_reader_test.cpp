/// Events come out the same wherever the bytes are cut.
#include "engine/model/sse_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using Events = std::vector<std::pair<std::string, std::string>>;

Events readIn(std::string_view text, std::size_t step) {
    SseReader reader(1000);
    Events events;
    for (std::size_t at = 0; at < text.size(); at += step)
        EXPECT_TRUE(reader.feed(text.substr(at, step), [&](const ServerSentEvent& event) {
            events.emplace_back(event.type, event.data);
        }));
    return events;
}

TEST(SseReaderTest, ReadsFieldsCommentsAndSeveralLinesOfDataWhereverTheyAreCut) {
    const std::string text = "\xef\xbb\xbf"
                             "event: a\ndata: one\ndata:two\n\n"
                             ": still here\n\n"
                             "id: 7\nretry: 10\ndata:  spaced\n\n"
                             "event: without data\n\n"
                             "data\n\n";
    for (const std::size_t step : {text.size(), std::size_t{1}, std::size_t{2}, std::size_t{7}})
        EXPECT_THAT(readIn(text, step),
                    ElementsAre(Pair("a", "one\ntwo"), Pair("", " spaced"), Pair("", "")))
            << step;
}

TEST(SseReaderTest, AcceptsEveryLineEnd) {
    for (const std::size_t step : {std::size_t{100}, std::size_t{1}}) {
        EXPECT_THAT(readIn("data: x\r\n\r\ndata: y\r\n\r\n", step),
                    ElementsAre(Pair("", "x"), Pair("", "y")));
        EXPECT_THAT(readIn("data: x\r\rdata: y\r\r", step),
                    ElementsAre(Pair("", "x"), Pair("", "y")));
    }
}

TEST(SseReaderTest, AnUnfinishedEventIsNone) {
    EXPECT_THAT(readIn("data: x\n", 3), IsEmpty());
    SseReader reader(1000);
    EXPECT_TRUE(reader.feed("data: x\n", [](const ServerSentEvent&) {}));
    EXPECT_TRUE(reader.isInsideEvent());
    EXPECT_TRUE(reader.feed("\n", [](const ServerSentEvent&) {}));
    EXPECT_FALSE(reader.isInsideEvent());
}

TEST(SseReaderTest, StopsAtALineOrAnEventThatIsTooLong) {
    SseReader line(100);
    EXPECT_FALSE(line.feed("data: " + std::string(200, 'x'), [](const ServerSentEvent&) {}));
    EXPECT_FALSE(line.feed("\n\n", [](const ServerSentEvent&) { FAIL(); }));
    SseReader event(100);
    const std::string data = "data: " + std::string(60, 'x') + "\n";
    EXPECT_TRUE(event.feed(data, [](const ServerSentEvent&) {}));
    EXPECT_FALSE(event.feed(data, [](const ServerSentEvent&) {}));
}

} // namespace
} // namespace kernelskill::engine
