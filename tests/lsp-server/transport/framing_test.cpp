#include "lsp-server/transport/framing.h"

#include <gtest/gtest.h>

#include <random>

namespace kernelskill::lsp {
namespace {

FrameDecoder decoder() {
    return FrameDecoder(1024);
}

TEST(Framing, DeliversWhatWasEncoded) {
    auto frames = decoder();
    frames.feed(encodeFrame("{}") + encodeFrame("[1]"));
    EXPECT_EQ(frames.next().value().value(), "{}");
    EXPECT_EQ(frames.next().value().value(), "[1]");
    EXPECT_FALSE(frames.next());
}

TEST(Framing, WaitsForTheRestOfAMessage) {
    auto frames = decoder();
    const std::string frame = encodeFrame(R"({"jsonrpc":"2.0"})");
    for (std::size_t i = 0; i + 1 < frame.size(); ++i) {
        frames.feed(frame.substr(i, 1));
        EXPECT_FALSE(frames.next()) << i;
    }
    frames.feed(frame.substr(frame.size() - 1));
    EXPECT_EQ(frames.next().value().value(), R"({"jsonrpc":"2.0"})");
}

TEST(Framing, AcceptsOtherHeadersAndAnyCase) {
    auto frames = decoder();
    frames.feed(
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:2\r\n\r\n{}");
    EXPECT_EQ(frames.next().value().value(), "{}");
}

class BadHeader : public ::testing::TestWithParam<const char*> {};

TEST_P(BadHeader, YieldsOneErrorAndTheNextMessage) {
    auto frames = decoder();
    frames.feed(GetParam() + encodeFrame("{}"));
    const auto error = frames.next();
    ASSERT_TRUE(error);
    EXPECT_FALSE(error->has_value());
    const auto next = frames.next();
    ASSERT_TRUE(next && *next) << "the good message after it was lost";
    EXPECT_EQ(**next, "{}");
    EXPECT_FALSE(frames.next());
}

INSTANTIATE_TEST_SUITE_P(Framing, BadHeader,
                         ::testing::Values("Content-Length: -5\r\n\r\n",
                                           "Content-Length: twelve\r\n\r\n{\"id\":1}",
                                           "Content-Length: 99999999999999999999999\r\n\r\n{}",
                                           "Content-Length: 2 \r\nnonsense\r\n\r\n{}",
                                           "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
                                           "Content-Length:\r\n\r\n", "Length: 2\r\n\r\n{}",
                                           "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                                           "{\"jsonrpc\":\"2.0\"}\r\n"));

TEST(Framing, SkipsAMessageThatIsTooLarge) {
    auto frames = decoder();
    frames.feed("Content-Length: 5000\r\n\r\n");
    ASSERT_FALSE(frames.next().value());
    for (int i = 0; i < 50; ++i)
        frames.feed(std::string(100, 'x'));
    frames.feed(encodeFrame("{}"));
    EXPECT_EQ(frames.next().value().value(), "{}");
}

TEST(Framing, ReadsOnAfterALengthThatNoMessageHas) {
    auto frames = decoder();
    frames.feed("Content-Length: 99999999999\r\n\r\n" + encodeFrame("{}"));
    ASSERT_FALSE(frames.next().value());
    EXPECT_EQ(frames.next().value().value(), "{}");
}

TEST(Framing, TextThatLooksLikeAHeaderInATooLargeMessageHidesNothing) {
    auto frames = decoder();
    frames.feed("Content-Length: 5000\r\n\r\n");
    ASSERT_FALSE(frames.next().value());
    frames.feed(R"({"text":"Content-Length: 7\r\n\r\n)" + std::string(4950, 'x') + "\"}");
    frames.feed(encodeFrame("{}") + encodeFrame("[]"));
    EXPECT_EQ(frames.next().value().value(), "{}");
    EXPECT_EQ(frames.next().value().value(), "[]");
}

TEST(Framing, FindsTheMessageThatATooLongLengthSwallowed) {
    auto frames = decoder();
    const std::string next = encodeFrame(R"({"id":2})");
    frames.feed("Content-Length: " + std::to_string(2 + next.size()) + "\r\n\r\n{}" + next);
    const auto body = frames.next();
    ASSERT_TRUE(body && *body);
    frames.recoverFrom(**body);
    EXPECT_EQ(frames.next().value().value(), R"({"id":2})");
}

TEST(Framing, GivesUpOnEndlessHeadersWithoutKeepingThem) {
    auto frames = decoder();
    bool sawError = false;
    for (int i = 0; i < 1000; ++i) {
        frames.feed(std::string(1000, 'a'));
        while (const auto frame = frames.next())
            sawError = sawError || !frame->has_value();
    }
    EXPECT_TRUE(sawError);
    frames.feed("\r\n" + encodeFrame("{}"));
    EXPECT_EQ(frames.next().value().value(), "{}");
}

TEST(Framing, SurvivesArbitraryBytes) {
    std::mt19937 random(7);
    const std::string valid = encodeFrame("{}");
    for (int round = 0; round < 300; ++round) {
        auto frames = decoder();
        std::string bytes;
        for (int piece = 0; piece < 10; ++piece) {
            std::string part = valid;
            for (int i = 0; i < 3; ++i)
                part[random() % part.size()] = static_cast<char>(random());
            bytes += random() % 2 == 0 ? part : valid;
        }
        frames.feed(bytes);
        int results = 0;
        while (frames.next() && results < 1000)
            ++results;
        EXPECT_LT(results, 1000) << "next() must make progress";
    }
}

} // namespace
} // namespace kernelskill::lsp
