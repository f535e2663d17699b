#include "tests/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path prelude = fs::path(kernelskill::paths::sourceFolder) / "analysis/prelude/include";

/// Every header a user may include, relative to the prelude. Those of another compiler or another
/// compilation are out.
std::vector<std::string> headers() {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(prelude)) {
        const std::string name = fs::relative(entry.path(), prelude).string();
        const bool other = name.starts_with("fallback/") || name == "toolkit_compat.h" ||
                           name == "kernelskill/emulation_support.h" || name.ends_with(".inc");
        if (entry.is_regular_file() && !other)
            names.push_back(name);
    }
    std::ranges::sort(names);
    return names;
}

struct Outcome {
    int status = 0;
    std::string output;
};

Outcome run(const std::string& command) {
    Outcome outcome;
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    if (!pipe)
        return {-1, "popen failed"};
    std::array<char, 4096> buffer{};
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
        outcome.output.append(buffer.data(), count);
    outcome.status = pclose(pipe);
    return outcome;
}

class EmulationHeaders : public ::testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        if (run("command -v " + compiler()).status != 0)
            GTEST_SKIP() << compiler() << " is not installed";
    }
    static std::string compiler() { return GetParam().substr(0, GetParam().find(' ')); }
};

/// Warnings of the prelude itself count, hence -I and not -isystem.
TEST_P(EmulationHeaders, CompileWithoutWarnings) {
    const fs::path source =
        fs::temp_directory_path() /
        ("kernelskill_headers_" + std::to_string(std::hash<std::string>{}(GetParam())) + ".cpp");
    {
        std::ofstream stream(source);
        for (const std::string& name : headers())
            stream << "#include <" << name << ">\n";
        stream << "__global__ void kernel(float* out) { out[threadIdx.x] = blockDim.x; }\n";
    }
    const Outcome outcome = run(GetParam() +
                                " -x c++ -fsyntax-only -Wall -Wextra -Werror -Wno-unused-function "
                                "-DKERNELSKILL_EMULATION -I" +
                                prelude.string() + " -include " + (prelude / "prelude.h").string() +
                                " " + source.string());
    fs::remove(source);
    EXPECT_EQ(outcome.status, 0) << outcome.output.substr(0, 4000);
}

INSTANTIATE_TEST_SUITE_P(Compilers, EmulationHeaders,
                         ::testing::Values("g++ -std=c++17", "g++ -std=c++20",
                                           "clang++ -std=c++17"),
                         [](const auto& command) {
                             std::string name = command.param;
                             std::erase_if(name, [](char c) {
                                 return !std::isalnum(static_cast<unsigned char>(c));
                             });
                             return name + std::to_string(command.index);
                         });

} // namespace
