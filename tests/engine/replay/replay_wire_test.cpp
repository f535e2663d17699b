#include "analysis/source/json.h"
#include "engine/process/framing.h"
#include "engine/replay/replay_target.h"
#include "engine/replay/replay_wire.h"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>

namespace kernelskill::engine {
// Each function names all fields of its type, so that a new field does not compile until it is
// compared. They stand in the type's namespace, where argument-dependent lookup finds them.
static auto fieldsOf(const ReplayCandidate& of) {
    const auto& [cubin, symbol, grid, block, sharedBytes, added] = of;
    return std::tuple(cubin, symbol, grid, block, sharedBytes, added);
}
static auto fieldsOf(const TypedRange& of) {
    const auto& [address, bytes, element] = of;
    return std::tuple(address, bytes, element);
}
static auto fieldsOf(const MemoryDifference& of) {
    const auto& [where, address, bytes, first, differing, stray, element, relative, isOfHost] = of;
    return std::tuple(where, address, bytes, first, differing, stray, element, relative, isOfHost);
}
static auto fieldsOf(const Error& of) {
    const auto& [kind, what, where, remedy] = of;
    return std::tuple(kind, what, where, remedy);
}
template <typename T>
static auto fieldsOf(const std::optional<T>& of) {
    return of ? std::optional(fieldsOf(*of)) : std::nullopt;
}
template <typename T>
static auto fieldsOf(const std::vector<T>& of) {
    std::vector<decltype(fieldsOf(of.front()))> all;
    for (const T& each : of)
        all.push_back(fieldsOf(each));
    return all;
}
static auto fieldsOf(const TryRequest& of) {
    const auto& [candidates, elements, onlyWritten, checks, rounds, limit] = of;
    return std::tuple(fieldsOf(candidates), fieldsOf(elements), onlyWritten, checks, rounds, limit);
}
static auto fieldsOf(const CandidateResult& of) {
    const auto& [refusal, differences, isByStaleMemory, microseconds, notes] = of;
    return std::tuple(fieldsOf(refusal), fieldsOf(differences), isByStaleMemory, microseconds,
                      notes);
}
static auto fieldsOf(const TryAnswer& of) {
    const auto& [original, variation, candidates, notes] = of;
    return std::tuple(original, fieldsOf(variation), fieldsOf(candidates), notes);
}
static auto fieldsOf(const ReplayFailure& of) {
    const auto& [error, isFatal, candidate, soFar] = of;
    return std::tuple(fieldsOf(error), isFatal, candidate, fieldsOf(soFar));
}
static auto fieldsOf(const HeldDescription& of) {
    const auto& [launch, major, minor, allocations, allocatedBytes, variables, saved, written, time,
                 variation] = of;
    return std::tuple(formatCapture(launch), major, minor, allocations, allocatedBytes, variables,
                      saved, written, time, fieldsOf(variation));
}

namespace {

template <typename Message>
std::span<const std::byte> payloadOf(const Message& frame) {
    return std::span(frame).subspan(wire::frameHeaderBytes);
}

template <typename Answer>
void expectToBeKept(const Answer& answer) {
    const auto read = decodeReplayAnswer(payloadOf(encode(ReplayAnswer(answer))));
    ASSERT_TRUE(read) << read.error().describe();
    ASSERT_TRUE(std::holds_alternative<Answer>(*read));
    EXPECT_EQ(fieldsOf(std::get<Answer>(*read)), fieldsOf(answer));
}

TEST(ReplayWire, KeepsRequests) {
    TryRequest request;
    request.candidates = {
        {std::string("\0\x7f\xff", 3), "k", {1, 2, 3}, {4, 5, 6}, 7, {{8, 9}, {}}},
        ReplayCandidate{}};
    request.elements = {{0x7f0000000000, 8, MemoryElement::Float64}};
    request.onlyWritten = {12};
    request.checks = 2;
    request.rounds = 9;
    request.limit = std::chrono::milliseconds(77);
    const auto read = decodeReplayRequest(payloadOf(encode(ReplayRequest(request))));
    ASSERT_TRUE(read) << read.error().describe();
    EXPECT_EQ(fieldsOf(std::get<TryRequest>(*read)), fieldsOf(request));
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
    held.capabilityMajor = 9;
    held.capabilityMinor = 1;
    held.allocations = 5;
    held.allocatedBytes = 6;
    held.variables = 7;
    held.savedBytes = 8;
    held.writtenBytes = 10;
    held.originalTime = std::chrono::milliseconds(11);
    held.variation = {{"there", 1, 2, 3, 4, 5, MemoryElement::Float16, 0.5, true}};
    expectToBeKept(held);

    constexpr double infinite = std::numeric_limits<double>::infinity();
    CandidateResult refused;
    refused.refusal = Error{ErrorKind::Unsupported, "what", "where", "remedy"};
    CandidateResult compared;
    compared.differences = {{"here", 1, 2, 3, 4, 5, MemoryElement::Bytes, infinite, false}};
    compared.isByStaleMemory = true;
    compared.microseconds = {2.5, 3};
    compared.notes = {"a note"};
    TryAnswer tried;
    tried.original = {1.5};
    tried.variation = held.variation;
    tried.candidates = {refused, compared};
    tried.notes = {"another"};
    expectToBeKept(tried);

    expectToBeKept(ReplayFailure{{ErrorKind::Failed, "it", {}, {}}, true, 3, tried});
    expectToBeKept(ReplayFailure{{ErrorKind::Cancelled, "it", {}, {}}, false, std::nullopt, {}});
}

TEST(ReplayWire, RefusesOtherBytes) {
    EXPECT_FALSE(decodeReplayAnswer({}));
    EXPECT_FALSE(decodeReplayRequest({}));
    const auto frame = wire::frame(nlohmann::json{{"answer", 3}});
    EXPECT_FALSE(decodeReplayAnswer(payloadOf(frame)));
    EXPECT_FALSE(decodeReplayRequest(payloadOf(frame)));
}

TEST(ReplayTarget, ComesBackAsItWasWritten) {
    const auto fields = [](const ReplayTarget& of) {
        const auto& [socket, cupti, kernel, ordinal, device, host, wait, original] = of;
        return std::tuple(socket, cupti, kernel, ordinal, device, host, wait, original);
    };
    const ReplayTarget target{"/s", "/c.so", "ns::k", 3, 4, 5, 6, 7};
    const auto read = parseReplayTarget(formatReplayTarget(target));
    ASSERT_TRUE(read);
    EXPECT_EQ(fields(*read), fields(target));
    EXPECT_FALSE(parseReplayTarget("{}"));
    EXPECT_FALSE(parseReplayTarget(""));
}

} // namespace
} // namespace kernelskill::engine
