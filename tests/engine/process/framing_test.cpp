#include "analysis/source/json.h"
#include "engine/process/framing.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

namespace kernelskill::engine::wire {
namespace {

using nlohmann::json;

std::span<const std::byte> payloadOf(const std::vector<std::byte>& frame) {
    return std::span(frame).subspan(frameHeaderBytes);
}

json received(std::span<const std::byte> payload) {
    json message;
    const auto read = readFrame(payload, [&](const json& whole) { message = whole; });
    EXPECT_TRUE(read) << read.error().describe();
    return message;
}

bool isTaken(std::span<const std::byte> payload) {
    return readFrame(payload, [](const json&) {}).has_value();
}

/// Byte strings in objects, whose members are not in the order of their names, and in arrays.
json someMessage() {
    const auto blob = [](std::vector<std::uint8_t> bytes) {
        return json::binary(std::move(bytes));
    };
    json buffers = json::array();
    buffers.push_back(json{{"name", "y"}, {"bytes", blob({1, 2, 3})}});
    buffers.push_back(json{{"bytes", blob({})}, {"a", blob({255})}});
    return json{{"z", blob(std::vector<std::uint8_t>(300, 7))}, {"buffers", buffers}, {"count", 2}};
}

TEST(Framing, CarriesByteStringsInTheirPlaces) {
    const auto whole = frame(someMessage());
    const auto length = payloadLength(std::span(whole).first<frameHeaderBytes>());
    EXPECT_EQ(length, whole.size() - frameHeaderBytes);
    EXPECT_EQ(received(payloadOf(whole)), someMessage());
}

TEST(Framing, CarriesAByteStringAlone) {
    const json message = json::binary({4, 5});
    EXPECT_EQ(received(payloadOf(frame(message))), message);
}

TEST(Framing, RefusesWhatIsCutOffOrLonger) {
    auto whole = frame(someMessage());
    const auto payload = payloadOf(whole);
    for (std::size_t length = 0; length < payload.size(); ++length)
        EXPECT_FALSE(isTaken(payload.first(length))) << length;
    whole.push_back(std::byte{0});
    EXPECT_FALSE(isTaken(payloadOf(whole)));
}

/// A length near 2^64 must not wrap around.
TEST(Framing, RefusesAnImplausibleLengthOfAByteString) {
    auto whole = frame(json::binary({4, 5}));
    const std::size_t lengthAt = whole.size() - 2 - sizeof(std::uint64_t);
    for (std::size_t i = 0; i < sizeof(std::uint64_t); ++i)
        whole[lengthAt + i] = std::byte{0xff};
    EXPECT_FALSE(isTaken(payloadOf(whole)));
}

TEST(Framing, RefusesMessagesThatAreTooDeep) {
    json deep;
    for (int level = 0; level < 100; ++level)
        deep = json::array({std::move(deep)});
    EXPECT_FALSE(isTaken(payloadOf(frame(std::move(deep)))));
}

} // namespace
} // namespace kernelskill::engine::wire
