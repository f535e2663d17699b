#include "analysis/source/json.h"
#include "engine/execution/buffer_fill.h"
#include "engine/execution/captured_data.h"
#include "engine/execution/launch_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace kernelskill::engine {
namespace {

using analysis::ScalarKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CapturedDataTest : public ::testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    template <typename Values>
    [[nodiscard]] std::string write(const std::string& name, const Values& numbers) const {
        const auto values = std::as_bytes(std::span(numbers));
        const auto path = (folder_ / name).string();
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(values.data()),
                   static_cast<std::streamsize>(values.size_bytes()));
        return path;
    }
    static BufferSpec captured(const std::string& path) {
        BufferSpec spec;
        spec.name = "x";
        spec.fill = Fill::Captured;
        spec.captured = CapturedBytes{path, {}, ScalarKind::Float};
        return spec;
    }

    std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) /
                                    ("captured_data_test." + std::to_string(::getpid()));
};

template <typename T>
std::vector<T> filled(const BufferSpec& spec, std::span<const std::byte> data, std::size_t count,
                      std::uint64_t offset = 0) {
    std::vector<T> values(count);
    fillFromCaptured(spec, data, offset, std::as_writable_bytes(std::span(values)));
    return values;
}

TEST_F(CapturedDataTest, ALinkToAnotherFileIsNotFollowed) {
    const auto path = write("0123", std::array{1.0f});
    const auto link = (folder_ / "link").string();
    std::filesystem::create_symlink(path, link);
    EXPECT_TRUE(openCapturedFile(path));
    EXPECT_FALSE(openCapturedFile(link));
}

TEST_F(CapturedDataTest, GivesTheBytesOfTheFileFromAnyPlace) {
    const auto path = write("x", std::array{1.5f, -2.0f, 3.0f, 4.0f, 5.0f});
    const auto file = openCapturedFile(path);
    ASSERT_TRUE(file) << file.error().describe();
    const auto spec = captured(path);
    EXPECT_THAT(filled<float>(spec, file->bytes(), 5), ElementsAre(1.5f, -2.0f, 3.0f, 4.0f, 5.0f));
    EXPECT_THAT(filled<float>(spec, file->bytes(), 1, 16), ElementsAre(5.0f));
}

TEST_F(CapturedDataTest, IsPoisonBehindTheEnd) {
    const auto path = write("x", std::array{1.0f});
    const auto file = openCapturedFile(path);
    ASSERT_TRUE(file);
    EXPECT_THAT(filled<std::uint32_t>(captured(path), file->bytes(), 3),
                ElementsAre(0x3f800000u, poisonWord, poisonWord));
    EXPECT_THAT(filled<std::uint32_t>(captured(path), file->bytes(), 2, 64),
                ElementsAre(poisonWord, poisonWord));
}

TEST_F(CapturedDataTest, BecomesDoublesForTheReference) {
    const auto path = write("x", std::array{1.5f, -2.0f, 0.1f});
    const auto file = openCapturedFile(path);
    ASSERT_TRUE(file);
    auto spec = captured(path);
    spec.element = ScalarKind::Double;
    spec.elementBytes = 8;
    EXPECT_THAT(filled<double>(spec, file->bytes(), 3),
                ElementsAre(1.5, -2.0, static_cast<double>(0.1f)));
    EXPECT_THAT(filled<double>(spec, file->bytes(), 1, 16), ElementsAre(0.1f));
    EXPECT_EQ(filled<std::uint64_t>(spec, file->bytes(), 4).back(),
              poisonWord * 0x100000001ull); // After the three.
}

TEST_F(CapturedDataTest, BecomesDoublesFromSixteenBitsToo) {
    const auto path = write("x", std::array<std::uint16_t, 3>{0x3e00, 0xc000, 0x2e66});
    const auto file = openCapturedFile(path);
    ASSERT_TRUE(file);
    auto spec = captured(path);
    spec.element = ScalarKind::Double;
    spec.elementBytes = 8;
    spec.captured->element = ScalarKind::Half;
    EXPECT_THAT(filled<double>(spec, file->bytes(), 3), ElementsAre(1.5, -2.0, 0x1.998p-4));
    EXPECT_THAT(filled<double>(spec, file->bytes(), 1, 8), ElementsAre(-2.0));
    EXPECT_EQ(filled<std::uint64_t>(spec, file->bytes(), 4).back(), poisonWord * 0x100000001ull);
    spec.captured->element = ScalarKind::BFloat16;
    EXPECT_THAT(filled<double>(spec, file->bytes(), 2), ElementsAre(0.125, -2.0));
}

TEST_F(CapturedDataTest, NamesAFileThatIsGone) {
    LaunchSpec launch;
    launch.arguments.emplace_back(captured((folder_ / "gone").string()));
    const auto contents = openCaptured(launch);
    ASSERT_FALSE(contents);
    EXPECT_THAT(contents.error().describe(), HasSubstr((folder_ / "gone").string()));
}

TEST_F(CapturedDataTest, OpensWhatIsReadAlone) {
    auto output = captured((folder_ / "gone").string());
    output.isInput = false; // Poisoned instead.
    LaunchSpec launch;
    launch.arguments.emplace_back(output);
    launch.arguments.emplace_back(captured(write("x", std::array{1.0f, 2.0f})));
    launch.arguments.emplace_back(BufferSpec{});
    const auto contents = openCaptured(launch);
    ASSERT_TRUE(contents) << contents.error().describe();
    ASSERT_EQ(contents->size(), 1u);
    EXPECT_EQ(contents->at(1).bytes().size(), 8u);
}

TEST_F(CapturedDataTest, TakesAnEmptyFile) {
    const auto path = write("empty", std::array<float, 0>{});
    const auto file = openCapturedFile(path);
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->bytes().empty());
    EXPECT_EQ(filled<std::uint32_t>(captured(path), file->bytes(), 1).front(), poisonWord);
}

TEST(CapturedLaunchJson, CarriesTheFileButNotWhatCameOut) {
    LaunchSpec launch;
    BufferSpec buffer;
    buffer.fill = Fill::Captured;
    buffer.captured = CapturedBytes{"/data/before", "/data/after", ScalarKind::Half};
    launch.arguments.emplace_back(buffer);
    LaunchSpec read;
    wire::fromJson(wire::toJson(launch), read);
    buffer.captured->after.clear();
    EXPECT_EQ(std::get<BufferSpec>(read.arguments.at(0)), buffer);
}

} // namespace
} // namespace kernelskill::engine
