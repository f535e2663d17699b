// Text that is cut short or damaged gives a listing or an error, and every index in it is one.
#include "engine/assembly/assembly_difference.h"
#include "engine/assembly/ptx_reader.h"
#include "engine/assembly/sass_reader.h"
#include "tests/engine/assembly/fixtures.h"

#include <gtest/gtest.h>

#include <random>

namespace kernelskill::engine {
namespace {

void expectSound(const Listing& listing) {
    for (const auto& instruction : listing.instructions) {
        EXPECT_LT(instruction.function, listing.functions.size());
        EXPECT_LT(static_cast<std::size_t>(instruction.kind), instructionClassCount);
        for (const auto& place : instruction.places)
            EXPECT_LT(place.file, listing.files.size());
    }
    for (const auto& label : listing.labels)
        EXPECT_LT(label.before, listing.instructions.size());
    for (const auto& function : listing.functions)
        EXPECT_LE(function.first, listing.instructions.size());
}

/// nullopt when the kernel itself is gone.
std::optional<Listing> readAny(const std::string& name, const std::string& text) {
    auto listing =
        name.ends_with(".ptx") ? readPtx(text, inlinedKernel) : readSass(text, inlinedKernel);
    if (!listing)
        return std::nullopt;
    expectSound(*listing);
    return std::move(*listing);
}

class ReaderMutation : public testing::TestWithParam<const char*> {};

TEST_P(ReaderMutation, EveryBeginningIsRead) {
    const auto text = fixture(GetParam());
    std::size_t most = 0;
    for (std::size_t size = 0; size <= text.size(); size += 3) {
        if (const auto listing = readAny(GetParam(), text.substr(0, size)))
            most = std::max(most, listing->instructions.size());
    }
    EXPECT_GT(most, 4U);
}

TEST_P(ReaderMutation, DamagedTextIsRead) {
    const auto original = fixture(GetParam());
    const auto whole = readAny(GetParam(), original);
    ASSERT_TRUE(whole);
    std::mt19937 random(11);
    constexpr std::string_view letters = "{};:/*\"@\n .,$%0L\xff";
    for (int round = 0; round < 400; ++round) {
        auto text = original;
        const auto edits = 1 + random() % 8;
        for (std::size_t edit = 0; edit < edits; ++edit) {
            const auto at = random() % text.size();
            switch (random() % 4) {
            case 0:
                text[at] = letters[random() % letters.size()];
                break;
            case 1:
                text.erase(at, 1 + random() % 40);
                break;
            case 2:
                text.insert(at, text.substr(random() % text.size(), random() % 40));
                break;
            default:
                text.insert(at, 1, letters[random() % letters.size()]);
            }
            if (text.empty())
                text = "x";
        }
        if (const auto listing = readAny(GetParam(), text)) {
            const auto difference = compareListings(*whole, *listing);
            EXPECT_GE(difference.rows.size(), totalOf(difference.before));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, ReaderMutation,
                         testing::Values("inlined.ptx", "inlined.sass", "inlined.cuobjdump"),
                         [](const auto& info) {
                             std::string name = info.param;
                             return name.substr(name.find('.') + 1);
                         });

} // namespace
} // namespace kernelskill::engine
