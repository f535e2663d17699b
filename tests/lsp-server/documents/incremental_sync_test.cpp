#include "lsp-server/documents/incremental_sync.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace kernelskill::lsp {
namespace {

using analysis::SourceText;

/// The reference: a document as a list of code points, edited the obvious way.
using CodePoints = std::u32string;

std::string encode(const CodePoints& text) {
    std::string out;
    for (const char32_t c : text) {
        if (c < 0x80) {
            out += static_cast<char>(c);
        } else if (c < 0x800) {
            out += static_cast<char>(0xc0 | (c >> 6));
            out += static_cast<char>(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
            out += static_cast<char>(0xe0 | (c >> 12));
            out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
            out += static_cast<char>(0x80 | (c & 0x3f));
        } else {
            out += static_cast<char>(0xf0 | (c >> 18));
            out += static_cast<char>(0x80 | ((c >> 12) & 0x3f));
            out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
            out += static_cast<char>(0x80 | (c & 0x3f));
        }
    }
    return out;
}

std::uint32_t units(char32_t c, PositionEncoding encoding) {
    switch (encoding) {
    case PositionEncoding::Utf8:
        return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    case PositionEncoding::Utf16:
        return c < 0x10000 ? 1 : 2;
    case PositionEncoding::Utf32:
        break;
    }
    return 1;
}

Position positionAt(const CodePoints& text, std::size_t index, PositionEncoding encoding) {
    Position position;
    for (std::size_t i = 0; i < index; ++i) {
        if (text[i] == U'\n')
            position = {position.line + 1, 0};
        else
            position.character += units(text[i], encoding);
    }
    return position;
}

CodePoints randomText(std::mt19937& random, std::size_t length) {
    static const CodePoints alphabet = U"ab(){};é€😀𝛼\n\n";
    CodePoints text;
    for (std::size_t i = 0; i < length; ++i)
        text += alphabet[random() % alphabet.size()];
    return text;
}

class IncrementalSync : public ::testing::TestWithParam<PositionEncoding> {};

TEST_P(IncrementalSync, AgreesWithAReferenceOverRandomEdits) {
    std::mt19937 random(42);
    for (int document = 0; document < 40; ++document) {
        CodePoints reference = randomText(random, random() % 200);
        auto text = std::make_shared<const SourceText>(encode(reference));
        for (int step = 0; step < 25; ++step) {
            std::vector<TextDocumentContentChangeEvent> changes;
            for (int part = 0; part < 1 + static_cast<int>(random() % 3); ++part) {
                std::size_t begin = random() % (reference.size() + 1);
                std::size_t end = random() % (reference.size() + 1);
                if (begin > end)
                    std::swap(begin, end);
                const CodePoints inserted = randomText(random, random() % 12);
                changes.push_back({Range{positionAt(reference, begin, GetParam()),
                                         positionAt(reference, end, GetParam())},
                                   encode(inserted)});
                reference.replace(begin, end - begin, inserted);
            }
            text = applyContentChanges(text, changes, GetParam());
            ASSERT_EQ(text->text(), encode(reference))
                << "document " << document << ", step " << step;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Encodings, IncrementalSync,
                         ::testing::Values(PositionEncoding::Utf8, PositionEncoding::Utf16,
                                           PositionEncoding::Utf32));

TEST(IncrementalSync, AChangeWithoutARangeReplacesEverything) {
    const auto text = applyContentChanges(std::make_shared<const SourceText>("old"),
                                          {{std::nullopt, "new\n"}}, PositionEncoding::Utf16);
    EXPECT_EQ(text->text(), "new\n");
}

TEST(IncrementalSync, PositionsPastTheEndAppend) {
    const auto text =
        applyContentChanges(std::make_shared<const SourceText>("a\nb"),
                            {{Range{{99, 99}, {100, 0}}, "!"}}, PositionEncoding::Utf16);
    EXPECT_EQ(text->text(), "a\nb!");
}

} // namespace
} // namespace kernelskill::lsp
