/// `kernelskill generate MODEL.pt2 --libraries` on stand-ins for nvidia-smi, nvcc and LibTorch with
/// a GPU, for which TF32 is fastest and wrong.
#include "tests/lsp-server/lsp_client.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <system_error>

namespace kernelskill::lsp::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Objects are the sources' texts, and a library all objects of its command.
constexpr const char* joiningCompiler = R"(#!/bin/sh
mode=link all='' from='' to=''
while [ $# -gt 0 ]; do
    case $1 in
        -c) mode=compile; from=$2; shift ;;
        -o) to=$2; shift ;;
        *.o) all="$all $1" ;;
    esac
    shift
done
if [ $mode = compile ]; then cat "$from" >"$to"; else cat $all >"$to"; fi
)";

class MeasuredModel : public ::testing::Test {
protected:
    MeasuredModel() {
        fs::create_directories(folder("bin"));
        fs::copy_file(fs::path(paths::buildFolder) / "bin/kernelskill", folder("bin/kernelskill"));
        fs::copy_file(KERNELSKILL_FAKE_TORCH, folder("bin/kernelskill-torch"));
        script("tools/nvidia-smi", "#!/bin/sh\necho 'NVIDIA H200, 9.0, 580.1, 1980'\n");
        script("toolkit/bin/nvcc", joiningCompiler);
        workspace.write("toolkit/include/cuda_runtime.h", "");
        workspace.write("toolkit/include/cuda.h", "#define CUDA_VERSION 13000\n");
    }

    [[nodiscard]] fs::path folder(const std::string& name) const { return workspace.path(name); }
    void script(const std::string& name, const std::string& text) const {
        workspace.write(name, text);
        fs::permissions(folder(name), fs::perms::owner_all);
    }
    static std::string read(const fs::path& file) {
        std::ifstream stream(file);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    /// Generates the model of a matrix product, with TF32 allowed, by this test's toolkit.
    [[nodiscard]] std::string generate(const std::string& options = "") const {
        const std::string command =
            "cd '" + workspace.path() +
            "' && env -u CUDA_VISIBLE_DEVICES -u KERNELSKILL_IGNORE_TOOLKIT PATH='" +
            folder("tools").string() + "':\"$PATH\" CUDA_HOME='" + folder("toolkit").string() +
            "' XDG_DATA_HOME='" + folder("data").string() + "' KERNELSKILL_DATA_DIR='" +
            std::string(paths::buildFolder) + "/share/kernelskill" + "' bin/kernelskill generate " +
            std::string(paths::sourceFolder) +
            "/tests/engine/graph/programs/kernelbench/level1-17_Matmul_with_transposed_B.pt2"
            " -o model --libraries --precision=tf32 --no-check " +
            options + " >out 2>err";
        const int status = std::system(command.c_str()); // NOLINT: a test's own words
        EXPECT_EQ(WEXITSTATUS(status), 0) << read(folder("err")) << read(folder("out"));
        return read(folder("out"));
    }

    TemporaryWorkspace workspace;
};

TEST_F(MeasuredModel, TakesTheFastestThatIsRightAndRemembersIt) {
    const json first = json::parse(generate("--json")).at("measured");
    ASSERT_EQ(first.at("gpu"), "NVIDIA H200") << first;
    ASSERT_EQ(first.at("places").size(), 1u);
    EXPECT_THAT(first.at("places")[0].at("chosen").get<std::string>(),
                HasSubstr("bfloat16 in two parts"));
    std::size_t refused = 0;
    for (const json& variant : first.at("places")[0].at("variants"))
        refused += variant.at("refused").get<std::string>().contains("1.5 instead of 1.25") ? 1 : 0;
    EXPECT_GE(refused, 1u) << first;
    EXPECT_EQ(first.at("accuracy").at("outcome"), "right");
    EXPECT_FALSE(first.at("accuracy").at("remembered").get<bool>());
    EXPECT_EQ(json::parse(read(folder("model/model.json"))).at("measured"), first);
    EXPECT_THAT(read(folder("model/report.html")),
                AllOf(HasSubstr("not exact enough"), HasSubstr("1.5 instead of 1.25"),
                      HasSubstr("right at 1e-2")));
    bool isSplit = false;
    for (const auto& kernel : fs::directory_iterator(folder("model/kernels")))
        isSplit = isSplit || read(kernel.path()).contains("bfloat16 in two parts");
    EXPECT_TRUE(isSplit);

    const std::string requests = read(folder("bin/requests"));
    const auto begin = std::chrono::steady_clock::now();
    const std::string second = generate();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    EXPECT_THAT(second, AllOf(HasSubstr("two parts"), HasSubstr("(remembered)\n"),
                              HasSubstr("\n    not exact enough: 40 "),
                              HasSubstr("distributions of inputs, the whole model (remembered): "
                                        "right at 1e-2, largest error 2.0e-03")));
    EXPECT_EQ(read(folder("bin/requests")), requests) << "LibTorch is not asked again";
}

TEST_F(MeasuredModel, IsRightAtTheToleranceThatIsAskedFor) {
    const auto chosenAt = [&](const std::string& tolerance) {
        const json measured =
            json::parse(generate("--json --tolerance=" + tolerance)).at("measured");
        EXPECT_EQ(measured.at("accuracy").at("outcome"), "right") << measured;
        EXPECT_EQ(measured.at("accuracy").at("tolerance"), tolerance);
        EXPECT_THAT(read(folder("model/report.html")), HasSubstr("right at " + tolerance));
        return measured.at("places").at(0).at("chosen").get<std::string>();
    };
    EXPECT_THAT(chosenAt("1e-2"), HasSubstr("bfloat16 in two parts"));
    EXPECT_THAT(chosenAt("1e-4"), HasSubstr("TF32 in two parts"));
    const std::string requests = read(folder("bin/requests"));
    EXPECT_THAT(chosenAt("1e-2"), HasSubstr("bfloat16 in two parts"));
    EXPECT_THAT(chosenAt("1e-4"), HasSubstr("TF32 in two parts"));
    EXPECT_EQ(read(folder("bin/requests")), requests) << "both are remembered";
}

} // namespace
} // namespace kernelskill::lsp::testing
