#include "engine/process/framing.h"
#include "engine/replay/replay_target.h"
#include "engine/replay/replay_wire.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace kernelskill::engine {
namespace {

template <typename Message>
std::span<const std::byte> payloadOf(const Message& frame) {
    return std::span(frame).subspan(wire::frameHeaderBytes);
}

TEST(ReplayWire, KeepsRequests) {
    TryRequest request;
    ReplayCandidate candidate;
    candidate.cubin = std::string("\0\x7f\xff", 3);
    candidate.symbol = "k";
    candidate.grid = {1, 2, 3};
    candidate.block = {4, 5, 6};
    candidate.sharedBytes = 7;
    candidate.parameters = {{std::byte{1}}, {}};
    request.candidates = {candidate, ReplayCandidate{}};
    request.elements = {{0x7f0000000000, 8, MemoryElement::Float64}};
    request.onlyWritten = {12};
    request.checks = 2;
    request.rounds = 9;
    request.limit = std::chrono::milliseconds(77);
    const auto read = decodeReplayRequest(payloadOf(encode(ReplayRequest(request))));
    ASSERT_TRUE(read) << read.error().describe();
    const auto& found = std::get<TryRequest>(*read);
    ASSERT_EQ(found.candidates.size(), 2u);
    EXPECT_EQ(found.candidates[0].cubin, candidate.cubin);
    EXPECT_EQ(found.candidates[0].parameters, candidate.parameters);
    EXPECT_EQ(found.candidates[0].grid, candidate.grid);
    EXPECT_FALSE(found.candidates[1].parameters);
    EXPECT_EQ(found.elements.at(0).element, MemoryElement::Float64);
    EXPECT_EQ(found.onlyWritten, request.onlyWritten);
    EXPECT_EQ(found.limit, request.limit);
    EXPECT_EQ(encode(ReplayRequest(found)), encode(ReplayRequest(request)));
    for (const ReplayRequest& other :
         {ReplayRequest(DescribeHeldRequest{}), ReplayRequest(ResumeRequest{})}) {
        const auto again = decodeReplayRequest(payloadOf(encode(other)));
        ASSERT_TRUE(again);
        EXPECT_EQ(again->index(), other.index());
    }
}

TEST(ReplayWire, KeepsAnswers) {
    HeldDescription held;
    held.launch.symbol = "k";
    held.launch.parameters = {{8, {std::byte{3}}, {}}};
    held.allocations = 5;
    held.isCooperative = true;
    held.variation = {{"there", 1, 2, 3, 4, 5, MemoryElement::Float16, 0.5}};
    TryAnswer tried;
    tried.original = {1.5};
    CandidateResult result;
    result.refusal = Error{ErrorKind::Unsupported, "what", "where", "remedy"};
    result.differences = {
        {"here", 1, 2, 3, 4, 5, MemoryElement::Bytes, std::numeric_limits<double>::infinity()}};
    result.isByStaleMemory = true;
    tried.candidates = {result, CandidateResult{}};
    for (const ReplayAnswer& answer :
         {ReplayAnswer(held), ReplayAnswer(tried),
          ReplayAnswer(ReplayFailure{{ErrorKind::Failed, "it", {}, {}}, true, 3, {}})}) {
        const auto read = decodeReplayAnswer(payloadOf(encode(answer)));
        ASSERT_TRUE(read) << read.error().describe();
        EXPECT_EQ(encode(*read), encode(answer));
    }
    const auto read = decodeReplayAnswer(payloadOf(encode(ReplayAnswer(tried))));
    EXPECT_TRUE(
        std::isinf(std::get<TryAnswer>(*read).candidates.at(0).differences.at(0).maxRelative));
}

TEST(ReplayWire, RefusesOtherBytes) {
    EXPECT_FALSE(decodeReplayAnswer({}));
    EXPECT_FALSE(decodeReplayRequest({}));
    const auto frame = wire::frame(nlohmann::json{{"answer", 3}});
    EXPECT_FALSE(decodeReplayAnswer(payloadOf(frame)));
    EXPECT_FALSE(decodeReplayRequest(payloadOf(frame)));
}

TEST(ReplayTarget, ComesBackAsItWasWritten) {
    const ReplayTarget target{"/s", "/c.so", "ns::k", 3, 4, 5, 6};
    const auto read = parseReplayTarget(formatReplayTarget(target));
    ASSERT_TRUE(read);
    EXPECT_EQ(formatReplayTarget(*read), formatReplayTarget(target));
    EXPECT_FALSE(parseReplayTarget("{}"));
    EXPECT_FALSE(parseReplayTarget(""));
}

} // namespace
} // namespace kernelskill::engine
