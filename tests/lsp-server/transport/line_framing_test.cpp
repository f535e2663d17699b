#include "lsp-server/transport/line_framing.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::lsp {
namespace {

TEST(LineFraming, EachLineIsAMessage) {
    LineDecoder lines(100);
    lines.feed("{}\n[1]\r\n\n{\"a\":");
    EXPECT_EQ(lines.next().value().value(), "{}");
    EXPECT_EQ(lines.next().value().value(), "[1]");
    EXPECT_FALSE(lines.next()) << "the last line has not ended";
    lines.feed("2}\n");
    EXPECT_EQ(lines.next().value().value(), "{\"a\":2}");
    EXPECT_FALSE(lines.next());
}

TEST(LineFraming, ALineThatIsTooLongIsOneErrorWhereverItIsCut) {
    for (std::size_t step : {1UL, 7UL, 1000UL}) {
        LineDecoder lines(10);
        const std::string bytes = std::string(95, 'x') + "\n{}\n";
        int errors = 0;
        std::string good;
        for (std::size_t at = 0; at < bytes.size(); at += step) {
            lines.feed(bytes.substr(at, step));
            while (const auto message = lines.next())
                *message ? void(good += **message) : void(++errors);
        }
        EXPECT_EQ(errors, 1) << step;
        EXPECT_EQ(good, "{}") << step;
    }
}

} // namespace
} // namespace kernelskill::lsp
