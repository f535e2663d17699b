#include "tests/fuzz/targets.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace kernelskill::testing {
namespace {

namespace fs = std::filesystem;

class FuzzCorpus : public ::testing::TestWithParam<FuzzTarget> {};

TEST_P(FuzzCorpus, IsReadToItsEnd) {
    const fs::path folder =
        fs::path(paths::sourceFolder) / "tests/fuzz/corpus" / std::string(GetParam().name);
    std::size_t inputs = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        SCOPED_TRACE(entry.path().string());
        std::ifstream stream(entry.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
        GetParam().run(bytes);
        // Cut off, as a pipe or a disk may do it.
        const std::size_t step = std::max<std::size_t>(1, bytes.size() / 64);
        for (std::size_t length = 0; length < bytes.size(); length += step)
            GetParam().run(std::string_view(bytes).substr(0, length));
        ++inputs;
    }
    EXPECT_GT(inputs, 0U);
}

/// Brackets of text, and arrays of one element in CBOR, nested a million times.
TEST_P(FuzzCorpus, HasNoDepthThatOverflowsTheStack) {
    for (const char c : {'[', '{', '(', '<', '-', '\x81', '#'})
        GetParam().run(std::string(1'000'000, c));
    GetParam().run("{\"a\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}");
    GetParam().run("data: {\"error\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') +
                   "}\n\n");
    GetParam().run("---\nid: " + std::string(1'000'000, '[') + "\n---\n");
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpus, ::testing::ValuesIn(fuzzTargets()),
                         [](const auto& info) {
                             std::string name(info.param.name);
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

} // namespace
} // namespace kernelskill::testing
