// `kernelskill ci -- ./program`, on a stand-in of driver and CUPTI, where a launch takes 10 ns a
// thread.
#include "tests/lsp-server/commands/fake_cuda_workspace.h"

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CiProgram : public FakeCudaWorkspace {
protected:
    CiProgram() : path_(std::getenv("PATH")) {
        ::setenv("PATH", (elsewhere.path("bin") + ":" + path_).c_str(), 1);
        setGpu("NVIDIA H200");
    }
    ~CiProgram() override { ::setenv("PATH", path_.c_str(), 1); }

    /// Writes an executable text.
    static void writeScript(const TemporaryWorkspace& where, const std::string& name,
                            const std::string& text) {
        where.write(name, text);
        std::filesystem::permissions(where.path(name), std::filesystem::perms::owner_all);
    }
    /// The machine's GPU, as nvidia-smi names it; empty: it fails.
    void setGpu(const std::string& name) const {
        writeScript(elsewhere, "bin/nvidia-smi",
                    name.empty() ? "#!/bin/sh\nexit 9\n"
                                 : "#!/bin/sh\necho '" + name + ", 9.0, 580.1, 1980'\n");
    }
    /// The program with some of its text replaced.
    void buildColumns(const std::string& from = "", const std::string& to = "") const {
        std::string text = columnProgram;
        text.replace(text.find(from), from.size(), to);
        workspace.write("columns.cu", text);
        build("columns.cu", "columns");
    }
    /// Twice as many threads as there are columns.
    void buildSlower() const {
        buildColumns("<<<columns / 128, 128>>>", "<<<columns / 64, 128>>>");
    }

    [[nodiscard]] CommandResult ci(std::vector<std::string> options,
                                   const std::vector<std::string>& program = {"./columns"}) const {
        std::vector<std::string> words{"ci", "--baseline", "base.json"};
        words.insert(words.end(), options.begin(), options.end());
        words.emplace_back("--");
        words.insert(words.end(), program.begin(), program.end());
        return run(words);
    }
    [[nodiscard]] std::string text(const std::string& name) const {
        return read(workspace.path(name));
    }

private:
    std::string path_;
};

TEST_F(CiProgram, AsFastAsBeforeIsStatusZero) {
    buildColumns();
    const auto first = ci({"--update"});
    ASSERT_EQ(first.status, 0) << first.errors;
    EXPECT_THAT(first.output, HasSubstr("2 kernels: 2 new"));
    const json baseline = json::parse(text("base.json"));
    EXPECT_EQ(baseline.at("program").at("command"), json({"./columns"}));
    EXPECT_EQ(baseline.at("program").at("folder"), ".");
    EXPECT_EQ(baseline.at("times").at("gpu").at("name"), "NVIDIA H200");
    EXPECT_EQ(baseline.at("times").at("gpu").at("driver"), "580.1");
    EXPECT_EQ(baseline.at("times").at("gpu").at("sm_mhz"), 1980);
    EXPECT_EQ(baseline.at("times").at("runs"), 16) << "each kernel is launched once a run";
    EXPECT_FALSE(baseline.contains("counts"));
    const auto again = ci({});
    EXPECT_EQ(again.status, 0) << again.errors;
    EXPECT_THAT(again.output,
                AllOf(HasSubstr("2 kernels: 2 same"), HasSubstr("columnSums  columns.cu"),
                      HasSubstr("compared: times of 16 runs on NVIDIA H200, with those of 16")));
    EXPECT_EQ(json::parse(text("base.json")), baseline) << "only --update writes it";
    EXPECT_THAT(again.output, Not(HasSubstr("total "))) << "the program's output is not the answer";
}

TEST_F(CiProgram, ACertainRegressionIsStatusOneAndReported) {
    buildColumns();
    ASSERT_EQ(ci({"--update"}).status, 0);
    const std::string baseline = text("base.json");
    buildSlower();
    const auto slower = ci({"--junit", "out.xml", "--markdown", "out.md"});
    EXPECT_EQ(slower.status, 1) << slower.errors;
    EXPECT_THAT(slower.output, AllOf(HasSubstr("slower          columnSums"),
                                     HasSubstr("0.50 times as fast, 655 µs to 1.31 ms"),
                                     HasSubstr("2 kernels: 1 slower, 1 same")));
    EXPECT_THAT(text("out.xml"),
                AllOf(HasSubstr("tests=\"2\" failures=\"1\""),
                      HasSubstr("classname=\"columns.cu\" name=\"columnSums\"><failure")));
    EXPECT_THAT(text("out.md"),
                AllOf(HasSubstr("./columns: 2 kernels: 1 slower, 1 same"),
                      HasSubstr("| columnSums | columns.cu | slower | 0.50 times as fast")));
    const auto asJson = ci({"--json"});
    EXPECT_EQ(asJson.status, 1);
    const json document = json::parse(asJson.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << asJson.output;
    EXPECT_EQ(document.at("compared"), "times");
    EXPECT_EQ(document.at("gpu"), "NVIDIA H200");
    EXPECT_EQ(document.at("regressions"), 1);
    EXPECT_EQ(document.at("kernels").at(0).at("status"), "slower");
    EXPECT_NEAR(document.at("kernels").at(0).at("speedup"), 0.5, 1e-6);
    EXPECT_EQ(text("base.json"), baseline);
    EXPECT_EQ(ci({"--update"}).status, 0) << "what is kept is no failure";
    EXPECT_EQ(ci({}).status, 0);
    buildColumns();
    EXPECT_THAT(ci({}).output, HasSubstr("2 kernels: 1 faster, 1 same"));
}

TEST_F(CiProgram, WhatIsNotCertainIsNoFailure) {
    buildColumns();
    ASSERT_EQ(ci({"--update", "--runs", "3"}).status, 0);
    EXPECT_EQ(json::parse(text("base.json")).at("times").at("runs"), 3);
    buildSlower();
    const auto unsure = ci({});
    EXPECT_EQ(unsure.status, 0) << unsure.errors;
    EXPECT_THAT(unsure.output,
                AllOf(HasSubstr("unsure          columnSums"), HasSubstr("3 launches are compared"),
                      HasSubstr("2 kernels: 2 unsure")));
}

TEST_F(CiProgram, TimesOfAnotherGpuAreNotCompared) {
    buildColumns();
    ASSERT_EQ(ci({"--update"}).status, 0);
    buildSlower();
    setGpu("NVIDIA A100");
    const auto other = ci({"--junit", "out.xml"});
    EXPECT_EQ(other.status, 0) << other.errors;
    EXPECT_THAT(other.output,
                AllOf(HasSubstr("2 kernels: 2 not-comparable"),
                      HasSubstr("the baseline is of NVIDIA H200; this is NVIDIA A100")));
    EXPECT_THAT(text("out.xml"), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"2\""));
    setGpu("");
    const auto unknown = ci({"--runs", "1"});
    EXPECT_EQ(unknown.status, 0) << unknown.errors;
    EXPECT_THAT(unknown.output, HasSubstr("this is a GPU that is not known"));
}

TEST_F(CiProgram, AnotherCommandIsNotCompared) {
    buildColumns();
    ASSERT_EQ(ci({"--update"}).status, 0);
    buildSlower();
    const auto other = ci({}, {"./columns", "64"});
    EXPECT_EQ(other.status, 0) << other.errors;
    EXPECT_THAT(other.output,
                AllOf(HasSubstr("2 kernels: 2 not-comparable"),
                      HasSubstr("the baseline is of `./columns` in .; this is `./columns 64`")));
    const auto counts = ci({"--on", "emulator"}, {"./columns", "64"});
    EXPECT_EQ(counts.status, 3) << "it has no counts";
    ASSERT_EQ(ci({"--update", "--runs", "1"}, {"./columns", "64"}).status, 0);
    EXPECT_EQ(json::parse(text("base.json")).at("program").at("command"),
              json({"./columns", "64"}));
}

TEST_F(CiProgram, AProgramThatFailsIsNoRegression) {
    buildColumns();
    ASSERT_EQ(ci({"--update"}).status, 0);
    const std::string baseline = text("base.json");
    buildColumns("std::printf(\"total %.1f\\n\", total);", "std::puts(\"bad sum\"); return 3;");
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{}, {"--update"}, {"--on", "emulator", "--update"}}) {
        const auto failed = ci(options);
        EXPECT_EQ(failed.status, 2) << ::testing::PrintToString(options);
        EXPECT_THAT(failed.errors,
                    AllOf(HasSubstr("the program ended with status 3"), HasSubstr("bad sum")));
    }
    buildColumns("columnSums<<<columns / 128, 128>>>(da, ds, rows, columns);\n"
                 "    scale<<<32, 128>>>(ds, dt, 4096);\n",
                 "\n");
    const auto idle = ci({});
    EXPECT_EQ(idle.status, 2);
    EXPECT_THAT(idle.errors, HasSubstr("the program ran no kernel"));
    EXPECT_EQ(ci({}, {"./absent"}).status, 3);
    EXPECT_EQ(text("base.json"), baseline);
}

TEST_F(CiProgram, SignalsEndItAndLeaveTheBaseline) {
    ::signal(SIGINT,
             SIG_DFL); // Tests that run in the background of a shell inherit that it is ignored.
    buildColumns();
    ASSERT_EQ(ci({"--update", "--runs", "1"}).status, 0);
    const std::string baseline = text("base.json");
    for (const char* signal : {"INT", "TERM"}) {
        const std::vector<std::string> interrupted{
            "sh", "-c", std::string("kill -") + signal + " $PPID; exec sleep 100"};
        for (const std::vector<std::string>& options :
             {std::vector<std::string>{"--update"}, {"--update", "--on", "emulator"}}) {
            const auto stopped = ci(options, interrupted);
            EXPECT_EQ(stopped.status, 2) << signal;
            EXPECT_THAT(stopped.errors, HasSubstr("stopping"));
        }
    }
    EXPECT_EQ(text("base.json"), baseline);
}

TEST_F(CiProgram, CountsAreThoseOfCapturedLaunches) {
    buildColumns();
    ASSERT_EQ(ci({"--update"}).status, 0);
    const auto first = ci({"--update", "--on", "emulator"});
    ASSERT_EQ(first.status, 0) << first.errors;
    const json baseline = json::parse(text("base.json"));
    EXPECT_TRUE(baseline.contains("times")) << "machines with and without a GPU share it";
    const json& counted = baseline.at("counts").at("kernels").at(0);
    EXPECT_EQ(counted.at("file"), "columns.cu");
    EXPECT_THAT(counted.at("problem").get<std::string>(),
                AllOf(HasSubstr("captured"), HasSubstr("rows=8, columns=65536")));
    const auto again = ci({"--on", "emulator"});
    EXPECT_EQ(again.status, 0) << again.errors;
    EXPECT_THAT(again.output,
                AllOf(HasSubstr("2 kernels: 2 same"),
                      HasSubstr("compared: counts of the emulator at launches of the program")));
    // Neighbouring threads read a row apart.
    buildColumns("a[row * columns + column]", "a[column * rows + row]");
    const auto worse = ci({"--on", "emulator", "--json"});
    EXPECT_EQ(worse.status, 1) << worse.errors;
    const json document = json::parse(worse.output, nullptr, false);
    ASSERT_TRUE(document.is_object()) << worse.output;
    EXPECT_EQ(document.at("compared"), "counts");
    EXPECT_EQ(document.at("captured"), true);
    EXPECT_EQ(document.at("kernels").at(0).at("status"), "worse");
    EXPECT_EQ(document.at("kernels").at(1).at("status"), "same");
    EXPECT_EQ(ci({}).status, 0) << "its times are those of its threads";
    const auto other = ci({"--on", "emulator"}, {"./columns", "64"});
    EXPECT_EQ(other.status, 0) << other.errors;
    EXPECT_THAT(other.output, AllOf(HasSubstr("2 kernels: 2 not-comparable"),
                                    HasSubstr("this is `./columns 64`")));
    EXPECT_FALSE(std::filesystem::exists(workspace.path(".kernelskill/captures")));
}

TEST_F(CiProgram, WithoutAGpuKernelsAreFoundByTheProgramsNames) {
    // It never starts the driver, as a program that finds no GPU.
    writeScript(workspace, "program", "#!/bin/sh\n# _Z5scalePKfPfi _Z5otherPf\nexit 1\n");
    workspace.write("columns.cu", columnProgram);
    const auto first = ci({"--update"}, {"./program"});
    ASSERT_EQ(first.status, 0) << first.errors;
    EXPECT_THAT(first.output, HasSubstr("1 kernel: 1 new"));
    const json baseline = json::parse(text("base.json"));
    EXPECT_FALSE(baseline.contains("times"));
    EXPECT_EQ(baseline.at("counts").at("kernels").at(0).at("kernel"), "scale");
    EXPECT_THAT(baseline.at("counts").at("kernels").at(0).at("problem").get<std::string>(),
                HasSubstr("n=4096"));
    std::string text = columnProgram;
    text.replace(text.find("2 * x[i]"), 8, "2 * x[i] + x[(i * 32) % n]");
    workspace.write("columns.cu", text);
    const auto worse = ci({}, {"./program"});
    EXPECT_EQ(worse.status, 1) << worse.errors;
    EXPECT_THAT(worse.output,
                AllOf(HasSubstr("worse           scale  columns.cu"),
                      HasSubstr("compared: counts of the emulator at launches as in the sources"),
                      HasSubstr("no times: the program never started the CUDA driver"),
                      HasSubstr("executable: the program never started the CUDA driver; it ended "
                                "with status 1")));
    EXPECT_EQ(ci({"--on", "gpu"}, {"./program"}).status, 3);
    workspace.write("columns.cu", "__global__ void renamed(float* x) { x[0] = 0; }\n");
    const auto none = ci({}, {"./program"});
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.errors, AllOf(HasSubstr("no name of a kernel"), HasSubstr("name the files")));
}

TEST_F(CiProgram, BuildsAndRunsAProgramOfTheWorkspace) {
    workspace.write("src/columns.cu", columnProgram);
    const auto describe = [&](const std::string& rows) {
        workspace.write(".kernelskill/programs.json",
                        json({{"columns",
                               {{"command", "./columns"},
                                {"folder", "src"},
                                {"environment", {{"ROWS", rows}}},
                                {"build", buildOf("columns.cu", "columns")}}},
                              {"broken", {{"command", "./columns"}, {"build", "false"}}}})
                            .dump());
    };
    const auto ofProgram = [&](std::vector<std::string> options) {
        std::vector<std::string> words{"ci", "--baseline", "ci/base.json"};
        words.insert(words.end(), options.begin(), options.end());
        return run(words);
    };
    describe("8");
    std::filesystem::create_directories(workspace.path("ci"));
    const auto first = ofProgram({"--program", "columns", "--update", "--runs", "16"});
    ASSERT_EQ(first.status, 0) << first.errors;
    EXPECT_EQ(json::parse(text("ci/base.json")).at("program").at("folder"), "../src");
    const auto again = ofProgram({"--program", "columns", "--json"});
    EXPECT_EQ(again.status, 0) << again.errors;
    EXPECT_EQ(json::parse(again.output).at("kernels").at(0).at("file"), "../src/columns.cu");
    describe("9");
    EXPECT_THAT(ofProgram({"--program", "columns", "--runs", "1"}).output,
                HasSubstr("this is `ROWS=9 ./columns` in ../src"));
    const auto broken = ofProgram({"--program", "broken"});
    EXPECT_EQ(broken.status, 2);
    EXPECT_THAT(broken.errors, HasSubstr("the build ended with status 1"));
}

TEST_F(CiProgram, WrongUseIsNamed) {
    buildColumns();
    const auto missing = ci({});
    EXPECT_EQ(missing.status, 3);
    EXPECT_THAT(missing.errors, AllOf(HasSubstr("no such baseline"), HasSubstr("--update")));
    EXPECT_EQ(ci({"columns.cu"}).status, 2) << "files and a program";
    EXPECT_EQ(run({"ci", "--baseline", "base.json", "--runs", "3", "columns.cu"}).status, 2);
    EXPECT_EQ(ci({"--runs", "0"}).status, 2);
    EXPECT_EQ(ci({"--on", "slurm"}).status, 2);
    ASSERT_EQ(run({"ci", "--baseline", "base.json", "--update", "columns.cu"}).status, 0);
    const auto ofFiles = ci({});
    EXPECT_EQ(ofFiles.status, 2);
    EXPECT_THAT(ofFiles.errors, HasSubstr("that of files, not of a program"));
    workspace.write("base.json", "{}");
    EXPECT_EQ(ci({}).status, 2);
    ASSERT_EQ(ci({"--update", "--runs", "1"}).status, 0);
    const auto ofProgram = run({"ci", "--baseline", "base.json"});
    EXPECT_EQ(ofProgram.status, 2);
    EXPECT_THAT(ofProgram.errors, AllOf(HasSubstr("that of a program"), HasSubstr("behind `--`")));
    const auto uncounted = ci({"--on", "emulator"});
    EXPECT_EQ(uncounted.status, 3);
    EXPECT_THAT(uncounted.errors, HasSubstr("the baseline has no counts"));
}

} // namespace
} // namespace kernelskill::lsp::testing
