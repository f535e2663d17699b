#include "engine/execution/emulator/wire/wire.h"
#include "engine/process/framing.h"

#include <gtest/gtest.h>

namespace kernelskill::engine::emulator {
namespace {

std::span<const std::byte> payloadOf(const std::vector<std::byte>& frame) {
    return std::span(frame).subspan(wire::frameHeaderBytes);
}

TEST(Wire, CarriesAJob) {
    WorkerJob job;
    job.image = "/cache/image.so";
    job.job.launch.origin = LaunchOrigin::Evaluated;
    job.job.launch.grid = {3, 2, 1};
    job.job.launch.block = {32, 4, 1};
    job.job.launch.dynamicSharedBytes = 1024;
    BufferSpec buffer;
    buffer.name = "x";
    buffer.element = analysis::ScalarKind::Half;
    buffer.elementBytes = 2;
    buffer.fill = Fill::Iota;
    buffer.isOutput = true;
    ScalarSpec scalar;
    scalar.name = "n";
    scalar.bytes = {std::byte{1}, std::byte{2}};
    job.job.launch.arguments = {buffer, scalar};
    job.job.launch.symbols = {{"width", Fill::Constant, 512, 0}};
    job.job.maxBlocks = 7;
    job.job.limits.time = std::chrono::milliseconds{1234};

    const std::vector<std::byte> frame = encode(job);
    const auto length = wire::payloadLength(std::span(frame).first<wire::frameHeaderBytes>());
    EXPECT_EQ(length, frame.size() - wire::frameHeaderBytes);
    const auto decoded = decodeJob(payloadOf(frame));
    ASSERT_TRUE(decoded.has_value()) << decoded.error().describe();
    EXPECT_EQ(decoded->image, job.image);
    EXPECT_EQ(decoded->job.launch.grid, job.job.launch.grid);
    EXPECT_EQ(decoded->job.launch.block, job.job.launch.block);
    EXPECT_EQ(decoded->job.launch.origin, LaunchOrigin::Evaluated);
    EXPECT_EQ(decoded->job.maxBlocks, 7u);
    EXPECT_EQ(decoded->job.limits.time, job.job.limits.time);
    ASSERT_EQ(decoded->job.launch.arguments.size(), 2u);
    const auto& x = std::get<BufferSpec>(decoded->job.launch.arguments[0]);
    EXPECT_EQ(x.name, "x");
    EXPECT_EQ(x.element, analysis::ScalarKind::Half);
    EXPECT_EQ(x.elements, std::nullopt);
    EXPECT_TRUE(x.isOutput);
    EXPECT_EQ(std::get<ScalarSpec>(decoded->job.launch.arguments[1]).bytes, scalar.bytes);
    ASSERT_EQ(decoded->job.launch.symbols.size(), 1u);
    EXPECT_EQ(decoded->job.launch.symbols[0].name, "width");
    EXPECT_EQ(decoded->job.launch.symbols[0].fill, Fill::Constant);
    EXPECT_EQ(decoded->job.launch.symbols[0].value, 512);
}

TEST(Wire, CarriesAReport) {
    WorkerReport report;
    report.failure = WorkerFailure{ErrorKind::Unsupported, "what", "where", "remedy", 0x1234, true};
    report.sites[0x40][Counter::GlobalLoadSectors] = 99;
    report.totals[Counter::Barriers] = 3;
    report.hazards.push_back({HazardKind::Misaligned,
                              false,
                              1,
                              2,
                              "message",
                              {1, 2, 3},
                              {4, 5, 6},
                              {ThreadPlace{{7, 8, 9}, {10, 11, 12}}, "tile", -3, RaceScope::Grid}});
    report.extents.push_back({"x", 10, true, false});
    report.outputs.push_back({"y", analysis::ScalarKind::Float, 4, {std::byte{7}}});
    report.notes = {"note"};
    report.printed = "text\xff";
    report.blocksRun = 5;
    report.contentions = {{"bins", true}, {"sum", false}};
    report.conditions = {{true, false, true, false}, {}, {true, true, false, true}};

    const auto decoded = decodeReport(payloadOf(encode(report)));
    ASSERT_TRUE(decoded.has_value()) << decoded.error().describe();
    ASSERT_TRUE(decoded->failure.has_value());
    EXPECT_EQ(decoded->failure->kind, ErrorKind::Unsupported);
    EXPECT_EQ(decoded->failure->site, 0x1234u);
    EXPECT_EQ(decoded->sites, report.sites);
    EXPECT_EQ(decoded->totals, report.totals);
    EXPECT_EQ(decoded->hazards, report.hazards);
    EXPECT_EQ(decoded->extents.at(0).elements, 10u);
    EXPECT_EQ(decoded->outputs.at(0).bytes, report.outputs[0].bytes);
    EXPECT_EQ(decoded->printed, "text?");
    EXPECT_EQ(decoded->blocksRun, 5u);
    EXPECT_EQ(decoded->contentions, report.contentions);
    EXPECT_EQ(decoded->conditions, report.conditions);
}

TEST(Wire, RefusesWhatIsNoMessage) {
    const std::vector<std::byte> garbage(100, std::byte{0xff});
    EXPECT_FALSE(decodeReport(garbage).has_value());
    EXPECT_FALSE(decodeJob(garbage).has_value());
    EXPECT_FALSE(decodeReport({}).has_value());
    EXPECT_EQ(wire::payloadLength(std::span(garbage).first<wire::frameHeaderBytes>()),
              std::nullopt);
}

TEST(Wire, RefusesAMessageNestedTooDeeply) {
    const std::vector<std::byte> arrays(1'000'000, std::byte{0x81}); // Of one element each.
    EXPECT_FALSE(decodeReport(arrays).has_value());
    EXPECT_FALSE(decodeJob(arrays).has_value());
}

TEST(Wire, RefusesAMessageThatWasCutShort) {
    const std::vector<std::byte> frame = encode(WorkerReport{});
    EXPECT_FALSE(decodeReport(payloadOf(frame).first(frame.size() / 2)).has_value());
}

TEST(Wire, PutsLinesInThePlaceOfSites) {
    const std::string text = "waits at " + siteReference(0x1a2b) + ", not " + siteReference(7);
    const std::string replaced =
        replaceSiteReferences(text, [](Site site) { return std::to_string(site); });
    EXPECT_EQ(replaced, "waits at 6699, not 7");
}

/// A kernel shares its process with the report's writer, so it can send anything.
TEST(Wire, ReportsThatWouldExhaustADecoderAreRefused) {
    const auto refuses = [](const std::vector<std::byte>& payload) {
        const auto report = decodeReport(payload);
        return !report && report.error().kind == ErrorKind::Internal;
    };
    EXPECT_TRUE(refuses(std::vector(1u << 20, std::byte{0x81}))) << "lists in lists";
    EXPECT_TRUE(refuses(std::vector(1u << 20, std::byte{0xa1}))) << "maps in maps";
    EXPECT_TRUE(refuses(std::vector(1u << 20, std::byte{0xc0}))) << "tags of tags";
    EXPECT_TRUE(refuses(std::vector(1u << 20, std::byte{0x9f}))) << "lists without an end";
    std::vector<std::byte> values(5 + (40u << 20), std::byte{0xf6});
    values[0] = std::byte{0x9a};
    values[1] = std::byte{0x02};
    values[2] = std::byte{0x80};
    values[3] = values[4] = std::byte{0};
    EXPECT_TRUE(refuses(values)) << "40 million values";
    std::vector<std::byte> claim = {std::byte{0x5b}};
    claim.resize(9, std::byte{0xff});
    EXPECT_TRUE(refuses(claim)) << "more bytes than there are";
    EXPECT_TRUE(refuses({}));
}

} // namespace
} // namespace kernelskill::engine::emulator
