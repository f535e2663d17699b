// Own kernels or a library, chosen by times on a GPU: `kernelskill generate MODEL.pt2 --libraries`.
// Skips where there is no GPU, no nvcc, or no LibTorch with CUDA.
#include "tests/lsp-server/commands/gpu_workspace.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <string>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

class GpuModelChoice : public GpuWorkspace {
protected:
    void SetUp() override {
        GpuWorkspace::SetUp();
        if (IsSkipped())
            return;
        bool hasCuda = false;
        for (const json& check : run("doctor --json").document().at("checks"))
            hasCuda = hasCuda ||
                      (check.at("name") == "libtorch" &&
                       check.at("detail").get<std::string>().find(" and on ") != std::string::npos);
        if (!hasCuda)
            GTEST_SKIP() << "kernelskill-torch has no LibTorch with CUDA";
        if (!std::filesystem::exists(archiveOf("conv")))
            GTEST_SKIP() << "the sample programs are not here";
    }

    /// In the tree that the test was built from or, on a machine that it was carried to, in the one
    /// that it is started in.
    static std::string archiveOf(const std::string& name) {
        const std::string file = "tests/engine/graph/programs/" + name + ".pt2";
        const std::filesystem::path built = std::filesystem::path(paths::sourceFolder) / file;
        return (std::filesystem::exists(built) ? built : std::filesystem::absolute(file)).string();
    }
    /// Generates `name`.pt2 into the folder `name`.
    [[nodiscard]] Outcome generate(const std::string& name,
                                   const std::string& tolerance = "1e-2") const {
        return run("generate '" + archiveOf(name) + "' -o " + name +
                   " --libraries --precision=tf32 --no-check --json --tolerance=" + tolerance);
    }
    [[nodiscard]] json judgementOf(const std::string& name, const std::string& archive) const {
        const std::string flags = "-O3 -std=c++17 -arch=native -Xcompiler -fPIC -cudart shared";
        const Outcome built =
            sh("env PATH=\"$PATH:/usr/local/cuda/bin\" nvcc " + flags + " -shared -I " + name +
               " -o " + name + "/libmodel.so " + name + "/model.cpp " + name +
               "/model_abi.cpp $(ls " + name + "/kernels/*.cu 2>/dev/null)");
        EXPECT_EQ(built.status, 0) << messages();
        return sh("'" + (server().parent_path() / "kernelskill-torch").string() + "' --judge='" +
                  archive + "' --library=" + name +
                  "/libmodel.so --tf32 --seeds=1 --gate-seconds=5 --rounds=20")
            .document();
    }
};

TEST_F(GpuModelChoice, TakesTheFastestAndRemembersIt) {
    for (const std::string name : {"mlp", "conv"}) {
        const Outcome first = generate(name);
        ASSERT_EQ(first.status, 0) << messages();
        const json measured = first.document().at("measured");
        EXPECT_NE(measured.at("gpu"), "");
        ASSERT_FALSE(measured.at("places").empty());
        for (const json& place : measured.at("places")) {
            EXPECT_TRUE(place.at("measured").get<bool>()) << place;
            EXPECT_FALSE(place.at("remembered").get<bool>());
            double least = std::numeric_limits<double>::infinity();
            double chosen = least;
            for (const json& variant : place.at("variants")) {
                EXPECT_FALSE(variant.at("microseconds").is_null()) << variant;
                const double time = variant.value("microseconds", least);
                if (variant.at("refused") == "")
                    least = std::min(least, time);
                if (variant.at("what") == place.at("chosen"))
                    chosen = std::min(chosen, time);
            }
            EXPECT_LE(chosen, least * 1.01) << place;
        }
        EXPECT_EQ(measured.at("accuracy").at("outcome"), "right") << measured;
        EXPECT_THAT(text(folder_.path() / name / "report.html"),
                    HasSubstr("Own kernels or a library"));
        const json judgement = judgementOf(name, archiveOf(name));
        ASSERT_TRUE(judgement.contains("within1e-2")) << judgement << messages();
        EXPECT_TRUE(judgement.at("within1e-2").get<bool>()) << judgement;

        const auto begin = std::chrono::steady_clock::now();
        const Outcome second = generate(name);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
        ASSERT_EQ(second.status, 0) << messages();
        const json remembered = second.document().at("measured");
        for (std::size_t i = 0; i < remembered.at("places").size(); ++i) {
            EXPECT_TRUE(remembered.at("places")[i].at("remembered").get<bool>());
            EXPECT_EQ(remembered.at("places")[i].at("chosen"),
                      measured.at("places")[i].at("chosen"));
        }
    }
}

TEST_F(GpuModelChoice, TakesNoTf32ThatIsWrong) {
    // Terms cancel in its sums of 2949, so that TF32 is beyond 1e-2.
    const std::string archive = archiveOf("kernelbench/level1-8_Matmul_with_irregular_shapes_");
    if (!std::filesystem::exists(archive))
        GTEST_SKIP() << "the tasks are not here";
    const Outcome outcome =
        run("generate '" + archive + "' -o product --libraries --precision=tf32 --no-check --json");
    ASSERT_EQ(outcome.status, 0) << messages();
    const json measured = outcome.document().at("measured");
    EXPECT_EQ(measured.at("accuracy").at("outcome"), "right") << measured;
    std::size_t refused = 0;
    for (const json& variant : measured.at("places").at(0).at("variants"))
        refused += variant.at("refused") == "" ? 0U : 1U;
    EXPECT_GE(refused, 1U) << measured;
    const json judgement = judgementOf("product", archive);
    ASSERT_TRUE(judgement.contains("within1e-2")) << judgement << messages();
    EXPECT_TRUE(judgement.at("within1e-2").get<bool>()) << judgement;
}

TEST_F(GpuModelChoice, IsRightAtTheTightTolerance) {
    for (const std::string name : {"mlp", "conv", "lstm"}) {
        const Outcome outcome = generate(name, "1e-4");
        ASSERT_EQ(outcome.status, 0) << messages();
        EXPECT_EQ(outcome.document().at("measured").at("accuracy").at("tolerance"), "1e-4");
        const json judgement = judgementOf(name, archiveOf(name));
        ASSERT_TRUE(judgement.contains("within1e-4")) << judgement << messages();
        EXPECT_TRUE(judgement.at("within1e-4").get<bool>()) << judgement;
    }
}

TEST_F(GpuModelChoice, MeasuresNothingWithoutTime) {
    const Outcome outcome =
        run("generate '" + archiveOf("mlp") + "' -o mlp --libraries --no-check --seconds=0");
    ASSERT_EQ(outcome.status, 0) << messages();
    EXPECT_THAT(outcome.output, HasSubstr("not measured, so all products are left to libraries"));
}

} // namespace
} // namespace kernelskill::lsp::testing
