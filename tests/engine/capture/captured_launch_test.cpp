#include "analysis/source/json.h"
#include "engine/capture/captured_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace kernelskill::engine {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* someName = "0123456789abcdef0123456789abcdef";

std::vector<std::byte> bytes(std::initializer_list<int> values) {
    std::vector<std::byte> result;
    for (const int value : values)
        result.push_back(static_cast<std::byte>(value));
    return result;
}

CapturedLaunch sample() {
    CapturedLaunch launch;
    launch.symbol = "_Z5saxpyfPKfPfi";
    launch.ordinal = 3;
    launch.program = "./a.out \xff 1024";
    launch.time = "2026-01-31T12:00:00Z";
    launch.device = "NVIDIA H200";
    launch.grid = {4096, 2, 3};
    launch.block = {256, 1, 2};
    launch.sharedBytes = 4096;
    launch.parameters = {{0, bytes({0, 0, 0, 0x40}), {}},
                         {8, bytes({0, 0x10, 0, 0xf0, 0xde, 0x7f, 0, 0}),
                          CapturedBuffer{0x7fdef0001000, 4000, someName, {}, {}}},
                         {16, bytes({1, 0x10, 0, 0xf0, 0xde, 0x7f, 0, 0}),
                          CapturedBuffer{0x7fdef0001001, 3999, {}, {}, "it is too large"}}};
    return launch;
}

TEST(CapturedLaunch, ComesBackAsItWasWritten) {
    auto launch = sample();
    launch.program = "./a.out 1024";
    const auto read = parseCapture(formatCapture(launch));
    ASSERT_TRUE(read) << read.error().describe();
    EXPECT_EQ(*read, launch);
}

TEST(CapturedLaunch, TakesProgramsWhoseNamesAreNoUtf8) {
    EXPECT_TRUE(parseCapture(formatCapture(sample())));
}

TEST(CapturedLaunch, SaysWhatIsWrong) {
    struct Damage {
        const char* path;
        json value;
        const char* message;
    };
    const json whole = json::parse(formatCapture(sample()));
    for (const auto& [path, value, message] : {
             Damage{"/format", "speedscope", "not a capture"},
             Damage{"/version", 2, "another version"},
             Damage{"/symbol", "", "no name"},
             Damage{"/launch", 0, "no number"},
             Damage{"/grid/1", 0, "grid"},
             Damage{"/grid", json::array({1, 2}), "grid"},
             Damage{"/block/0", -1, "block"},
             Damage{"/block/0", 1024, "1024 threads"},
             Damage{"/sharedBytes", 1.5, "shared memory"},
             Damage{"/parameters/0/value", "0g", "hexadecimal"},
             Damage{"/parameters/0/value", "000", "hexadecimal"},
             Damage{"/parameters/1/value", "00", "without an address"},
             Damage{"/parameters/1/buffer/bytes", -4, "no size"},
             Damage{"/parameters/1/buffer/before", "../../etc/passwd", "data name"},
             Damage{"/parameters/1/buffer/after", 7, "type"},
             Damage{"/parameters/2/buffer/missing", "", "no reason"},
         }) {
        json damaged = whole;
        damaged[json::json_pointer(path)] = value;
        const auto read = parseCapture(damaged.dump());
        ASSERT_FALSE(read) << path;
        EXPECT_THAT(read.error().what, HasSubstr(message)) << path;
        EXPECT_EQ(read.error().kind, ErrorKind::InvalidInput);
    }
    for (const char* key :
         {"format", "version", "symbol", "launch", "grid", "block", "sharedBytes", "parameters"}) {
        json damaged = whole;
        damaged.erase(key);
        EXPECT_FALSE(parseCapture(damaged.dump())) << key;
    }
    EXPECT_FALSE(parseCapture(""));
    EXPECT_FALSE(parseCapture("[]"));
    EXPECT_FALSE(parseCapture(std::string(100'000, '[')));
}

/// Whatever stands in a manifest, the answer is a launch that a GPU would take, or an error.
TEST(CapturedLaunch, SurvivesBytesThatWereChanged) {
    const std::string whole = formatCapture(sample());
    std::mt19937 random(7);
    const auto below = [&](std::size_t end) { return random() % end; };
    for (int round = 0; round < 20'000; ++round) {
        std::string text = whole;
        for (auto changes = 1 + below(4); changes > 0; --changes) {
            const auto at = below(text.size());
            switch (below(3)) {
            case 0:
                text[at] = static_cast<char>(below(256));
                break;
            case 1:
                text.erase(at, 1 + below(8));
                break;
            default:
                text.insert(at, whole.substr(below(whole.size()), below(12)));
            }
        }
        const auto read = parseCapture(text);
        if (!read)
            continue;
        for (const auto extent : {read->grid, read->block})
            for (const auto axis : extent)
                ASSERT_GE(axis, 1u);
        for (const auto& parameter : read->parameters) {
            ASSERT_LE(parameter.value.size(), 32764u);
            const auto name = parameter.buffer ? parameter.buffer->before : std::string();
            ASSERT_EQ(name.find_first_not_of("0123456789abcdef"), std::string::npos);
        }
    }
}

TEST(DataName, TellsContentsApart) {
    std::vector<std::byte> data(100);
    const auto name = dataName(data.data(), data.size());
    EXPECT_EQ(name.size(), 32u);
    EXPECT_EQ(name, dataName(data.data(), data.size()));
    EXPECT_NE(name, dataName(data.data(), data.size() - 1)); // Zeros, but one less.
    for (std::size_t at = 0; at < data.size(); ++at) {
        auto other = data;
        other[at] = std::byte{1};
        EXPECT_NE(name, dataName(other.data(), other.size())) << at;
        auto swapped = other;
        std::swap(swapped[at], swapped[(at + 8) % swapped.size()]);
        EXPECT_NE(dataName(other.data(), other.size()), dataName(swapped.data(), swapped.size()));
    }
}

TEST(ManifestName, IsThatOfOneLaunchOfOneKernel) {
    EXPECT_EQ(manifestName("_Z1kv", 1), manifestName("_Z1kv", 1));
    EXPECT_NE(manifestName("_Z1kv", 1), manifestName("_Z1kv", 2));
    EXPECT_NE(manifestName("_Z1kv", 1), manifestName("_Z1lv", 1));
}

} // namespace
} // namespace kernelskill::engine
