/// A folder with a CUDA program that nvcc builds, for tests that skip where there is no GPU.
#pragma once

#include "analysis/source/json.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>

namespace kernelskill::lsp::testing {

using nlohmann::json;

struct Outcome {
    int status = -1;
    std::string output;
    [[nodiscard]] json document() const { return json::parse(output, nullptr, false); }
};

class GpuWorkspace : public ::testing::Test {
protected:
    /// Skips without a GPU or nvcc.
    void SetUp() override {
        const auto document = run("doctor --json").document();
        ASSERT_TRUE(document.is_object());
        bool hasGpu = false;
        for (const auto& check : document.at("checks"))
            hasGpu = hasGpu || (check.at("name") == "gpu" && check.at("status") == "ok");
        if (!hasGpu)
            GTEST_SKIP() << "no GPU to test on";
        if (sh("command -v nvcc || test -x /usr/local/cuda/bin/nvcc").status != 0)
            GTEST_SKIP() << "no nvcc to build a program with";
    }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.path() / name, std::ios::binary) << text;
    }
    /// The command that builds the program `name` from `name`.cu.
    static std::string buildOf(const std::string& name) {
        return "env PATH=\"$PATH:/usr/local/cuda/bin\" nvcc -O2 -arch=native -o " + name + " " +
               name + ".cu";
    }

    static std::filesystem::path server() {
        const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
        for (const auto& place : {here / "kernelskill", here.parent_path() / "bin/kernelskill"}) {
            if (std::filesystem::exists(place))
                return place;
        }
        return "kernelskill";
    }

    [[nodiscard]] Outcome sh(const std::string& line) const {
        const auto command = "cd '" + folder_.path().string() + "' && { " + line + "; } 2>messages";
        Outcome outcome;
        std::FILE* pipe = ::popen(command.c_str(), "r"); // NOLINT: a test's own words
        char part[4096];
        for (std::size_t size = 0; (size = std::fread(part, 1, sizeof part, pipe)) > 0;)
            outcome.output.append(part, size);
        outcome.status = WEXITSTATUS(::pclose(pipe));
        return outcome;
    }
    [[nodiscard]] Outcome run(const std::string& arguments) const {
        return sh("XDG_DATA_HOME=data XDG_CACHE_HOME=cache '" + server().string() + "' " +
                  arguments);
    }
    [[nodiscard]] std::string messages() const { return text(folder_.path() / "messages"); }
    static std::string text(const std::filesystem::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    kernelskill::testing::TemporaryFolder folder_;
};

} // namespace kernelskill::lsp::testing
