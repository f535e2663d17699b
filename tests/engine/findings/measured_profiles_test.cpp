#include "engine/execution/metric_names.h"
#include "engine/findings/measured_profiles.h"
#include "engine/findings/profile_file.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace kernelskill::engine {
namespace {

LaunchSpec launch() {
    LaunchSpec spec;
    spec.origin = LaunchOrigin::Evaluated;
    spec.kernel = "space::k";
    spec.templateArguments = {"float"};
    spec.grid = {4, 2, 1};
    spec.block = {32, 8, 1};
    spec.dynamicSharedBytes = 128;
    BufferSpec buffer;
    buffer.name = "out";
    buffer.elements = 1024;
    ScalarSpec integer{"n", std::vector<std::byte>(4), 1024, {}};
    ScalarSpec floating{"a", std::vector<std::byte>(4), {}, 0.5};
    spec.arguments = {buffer, integer, floating};
    spec.notes = {"n: from line 3"};
    return spec;
}

KernelFindings findings(const std::string& device, double nanoseconds, std::uint32_t line = 5) {
    Profile profile;
    profile.kernel = "space::k";
    profile.executor = "gpu";
    profile.launch = launch();
    profile.metrics = {{metric::medianTime, nanoseconds}};
    profile.lines = {{"/a.cu", line, {{metric::stallPercent, 61.5}}}};
    Hazard hazard;
    hazard.kind = HazardKind::OutOfBounds;
    hazard.file = "/a.cu";
    hazard.line = line;
    hazard.message = "element 1024 of 'out'";
    hazard.thread = {7, 0, 0};
    hazard.details.object = "out";
    hazard.details.element = 1024;
    hazard.details.other = ThreadPlace{{1, 0, 0}, {2, 0, 0}};
    profile.hazards = {hazard};
    profile.extents = {{"out", 1024, true, false}};
    profile.blocksRun = 8;
    profile.notes = {"measured on NVIDIA H200 (sm_90)"};
    StaticFacts facts;
    facts.symbol = "_Z1k";
    facts.architecture = "sm_90";
    facts.registers = 32;
    Measurement measurement{device, "NVIDIA H200", "2026-01-02T03:04:05Z",
                            DeviceCeilings{"NVIDIA H200", 4e12, 6e13, 3e13, 1e13}};
    return {std::make_shared<const Profile>(std::move(profile)),
            std::make_shared<const Result<StaticFacts>>(std::move(facts)),
            std::make_shared<const Measurement>(std::move(measurement))};
}

ProfileKey key(std::uint64_t hash = 1, std::uint32_t firstLine = 4) {
    return {hash, hash, {{"space::k", "/a.cu", firstLine, firstLine + 6}}};
}

double timeOf(const KernelFindings& found) {
    return found.profile ? found.profile->metrics.at(metric::medianTime) : -1;
}

class MeasuredProfilesTest : public ::testing::Test {
protected:
    testing::TemporaryFolder folder_;
    MeasuredProfiles profiles_{folder_.path() / "measured"};
    /// Simulates another process.
    MeasuredProfiles other_{folder_.path() / "measured"};
};

TEST_F(MeasuredProfilesTest, AnotherProcessFindsAllThatWasMeasured) {
    profiles_.insert(key(), findings("GPU-1", 72e3));
    const KernelFindings found = other_.find(key(), "");
    ASSERT_TRUE(found.profile && found.facts && found.measurement);
    const Profile& profile = *found.profile;
    EXPECT_EQ(profile.executor, "gpu");
    EXPECT_EQ(timeOf(found), 72e3);
    ASSERT_EQ(profile.lines.size(), 1u);
    EXPECT_EQ(profile.lines.front().metrics.at(metric::stallPercent), 61.5);
    ASSERT_EQ(profile.hazards.size(), 1u);
    EXPECT_EQ(profile.hazards.front().message, "element 1024 of 'out'");
    EXPECT_EQ(profile.hazards.front().details.element, 1024);
    EXPECT_EQ(profile.hazards.front().details.other->thread.x, 2u);
    EXPECT_EQ(profile.extents.front().elements, 1024u);
    EXPECT_EQ(profile.launch.kernel, "space::k");
    EXPECT_EQ(profile.launch.templateArguments, std::vector<std::string>{"float"});
    EXPECT_EQ(profile.launch.notes, std::vector<std::string>{"n: from line 3"});
    EXPECT_EQ(profile.launch.grid, (Dim3{4, 2, 1}));
    EXPECT_EQ(std::get<ScalarSpec>(profile.launch.arguments.at(1)).integer, 1024);
    EXPECT_EQ(std::get<ScalarSpec>(profile.launch.arguments.at(2)).floating, 0.5);
    EXPECT_EQ((*found.facts)->registers, 32u);
    EXPECT_EQ(found.measurement->device, "GPU-1");
    EXPECT_EQ(found.measurement->time, "2026-01-02T03:04:05Z");
    EXPECT_EQ(found.measurement->ceilings->cacheBytesPerSecond, 1e13);
}

TEST_F(MeasuredProfilesTest, AnotherTextHasNone) {
    profiles_.insert(key(1), findings("GPU-1", 72e3));
    EXPECT_FALSE(profiles_.find(key(2), "").profile);
    EXPECT_FALSE(other_.find(key(2), "GPU-1").profile);
}

TEST_F(MeasuredProfilesTest, LinesFollowTheFunction) {
    profiles_.insert(key(1, 4), findings("GPU-1", 72e3, 5));
    for (MeasuredProfiles* profiles : {&profiles_, &other_}) {
        const auto found = profiles->find(key(1, 14), "");
        ASSERT_TRUE(found.profile);
        EXPECT_EQ(found.profile->lines.front().line, 15u);
        EXPECT_EQ(found.profile->hazards.front().line, 15u);
    }
}

TEST_F(MeasuredProfilesTest, EachDeviceHasItsOwn) {
    profiles_.insert(key(), findings("GPU-1", 72e3));
    profiles_.insert(key(), findings("GPU-2", 144e3));
    for (MeasuredProfiles* profiles : {&profiles_, &other_}) {
        EXPECT_EQ(timeOf(profiles->find(key(), "GPU-1")), 72e3);
        EXPECT_EQ(timeOf(profiles->find(key(), "GPU-2")), 144e3);
    }
    EXPECT_EQ(timeOf(profiles_.find(key(), "GPU-3")), 144e3) << "the last that was measured";
}

TEST_F(MeasuredProfilesTest, KnowsWhatThisProcessHasMeasured) {
    profiles_.insert(key(), findings("GPU-1", 72e3));
    EXPECT_EQ(timeOf(profiles_.findOwn(key(), "GPU-1")), 72e3);
    EXPECT_FALSE(profiles_.findOwn(key(), "GPU-2").profile);
    EXPECT_FALSE(profiles_.findOwn(key(2), "GPU-1").profile);
    ASSERT_TRUE(other_.find(key(), "GPU-1").profile);
    EXPECT_FALSE(other_.findOwn(key(), "GPU-1").profile) << "another process has measured it";
}

TEST_F(MeasuredProfilesTest, ABrokenFileIsNoProfile) {
    profiles_.insert(key(), findings("GPU-1", 72e3));
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(folder_.path() / "measured")) {
        if (entry.is_regular_file())
            std::ofstream(entry.path()) << "no CBOR";
    }
    EXPECT_FALSE(other_.find(key(), "").profile);
    EXPECT_FALSE(decodeFindings(std::string(100, '\xff')));
}

TEST(LaunchKey, IsOfTheWholeLaunch) {
    const auto original = launchKey(key(), launch()).hash;
    EXPECT_EQ(launchKey(key(), launch()).hash, original);
    auto changed = launch();
    changed.grid.x = 5;
    EXPECT_NE(launchKey(key(), changed).hash, original);
    changed = launch();
    changed.templateArguments = {"double"};
    EXPECT_NE(launchKey(key(), changed).hash, original);
    EXPECT_NE(launchKey(key(2), launch()).hash, original);
}

} // namespace
} // namespace kernelskill::engine
