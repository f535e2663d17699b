// Programs that are held at a launch, on a stand-in of driver and CUPTI
// (tests/engine/capture/fake_gpu).
#pragma once

#include "engine/replay/replay_session.h"
#include "tests/engine/replay/cubin_image.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kernelskill::engine {

class ReplaySessionFixture : public ::testing::Test {
protected:
    // The program and the library stand beside those of the captures.
    inline static const std::string fakeProgram =
        std::string(paths::fakeGpuFolder) + "/kernelskill_replay_fake_program";
    static std::filesystem::path library() {
        return std::filesystem::path(paths::captureLibrary).parent_path() /
               "libkernelskill-replay.so";
    }
    static constexpr const char* symbol = "_Z5scalefPKfPfi";
    static constexpr std::uint64_t bytes = 160'000; ///< The size of each of its buffers.

    ReplaySessionFixture() {
        program_.environment = {{"LD_LIBRARY_PATH", paths::fakeGpuFolder}};
        program_.library = library();
        program_.startLimit = std::chrono::milliseconds(20'000);
        target_.kernel = "scale";
        target_.waitMilliseconds = 2'000;
    }

    [[nodiscard]] ReplayProgram programOf(const std::string& words) const {
        ReplayProgram program = program_;
        program.words = {fakeProgram};
        std::istringstream text(words);
        program.words.insert(program.words.end(), std::istream_iterator<std::string>(text), {});
        return program;
    }
    /// The program's output when nothing holds it.
    [[nodiscard]] static std::string alone(const std::string& words) {
        const std::string command = "LD_LIBRARY_PATH='" + std::string(paths::fakeGpuFolder) +
                                    "' '" + fakeProgram + "' " + words + " 2>/dev/null";
        std::string output;
        std::FILE* pipe = popen(command.c_str(), "r");
        std::array<char, 4096> part{};
        while (pipe != nullptr && std::fgets(part.data(), part.size(), pipe) != nullptr)
            output += part.data();
        pclose(pipe);
        return output;
    }
    [[nodiscard]] std::string said() const {
        std::ifstream file(output(), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] std::string output() const { return (folder_.path() / "output").string(); }

    [[nodiscard]] ReplayProgram programWithOutput(const std::string& words) {
        auto program = programOf(words);
        file_ = FileDescriptor(
            ::open(output().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        program.output = file_.get();
        return program;
    }
    [[nodiscard]] Result<std::unique_ptr<ReplaySession>> open(const std::string& words) {
        return ReplaySession::open(programWithOutput(words), target_, {});
    }
    /// Runs `serve` in a server process, which must end by die(). The test inherits its program.
    template <typename Serve>
    static void runServer(const Serve& serve) {
        ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
        const pid_t server = ::fork();
        if (server == 0) {
            serve();
            ::_exit(1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(server, &status, 0), server);
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it was not held";
    }
    /// Whether the process does anything.
    static bool runs(pid_t process) {
        std::ifstream file("/proc/" + std::to_string(process) + "/stat");
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        const auto name = text.rfind(") ");
        return name != std::string::npos && text[name + 2] != 'Z';
    }
    /// Kills the server's own process, so that it cannot end its program.
    static void die() { ::kill(::getpid(), SIGKILL); }
    /// Waits for the program of a server that has died: its exit status, or 128 + signal.
    static int endOfProgram() {
        int status = 0;
        if (::waitpid(-1, &status, 0) < 0)
            return -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    /// The text that programs wrote to standard error, in folders below `folder`.
    static std::string messagesBelow(const std::filesystem::path& folder) {
        std::string all;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
            std::ifstream file(entry.path(), std::ios::binary);
            if (entry.path().filename() == "messages")
                all.append(std::istreambuf_iterator<char>(file), {});
        }
        return all;
    }
    static ReplayCandidate candidate(const std::string& name) {
        testing::CubinImage image;
        image.kernels = {{name, {}}};
        if (name == "prints")
            image.kernels.back().calls = {"vprintf"};
        image.variables = {{"factor", 4}, {"launches", 4}};
        ReplayCandidate candidate;
        candidate.cubin = imageOf(image);
        candidate.symbol = name;
        candidate.grid = {157, 1, 1};
        candidate.block = {256, 1, 1};
        return candidate;
    }
    static TryRequest requestOf(std::vector<ReplayCandidate> candidates) {
        TryRequest request;
        request.candidates = std::move(candidates);
        request.limit = std::chrono::milliseconds(300);
        return request;
    }
    /// The trial of one candidate; the program goes on afterwards, and says what it says alone.
    [[nodiscard]] ReplayedTrial trialOf(const std::string& words, const std::string& name,
                                        bool isExact = true) {
        auto session = open(words);
        if (!session) {
            ADD_FAILURE() << session.error().describe();
            return {};
        }
        return trialIn(**session, words, name, isExact);
    }
    [[nodiscard]] ReplayedTrial trialIn(ReplaySession& session, const std::string& words,
                                        const std::string& name, bool isExact = true) {
        auto request = requestOf({candidate(name)});
        const auto& parameters = session.held().launch.parameters;
        const auto& y = *parameters.at(2).buffer;
        request.elements = {{y.address, y.bytes, MemoryElement::Float32}};
        request.onlyWritten = {y.address};
        auto trials = session.tryAll(request, isExact, {});
        if (!trials) {
            ADD_FAILURE() << trials.error().describe();
            return {};
        }
        const auto status = session.resume(std::chrono::milliseconds(20'000), {});
        EXPECT_EQ(status.value_or(-1), 0);
        EXPECT_EQ(said(), alone(words));
        return trials->at(0);
    }

    testing::TemporaryFolder folder_;
    ReplayProgram program_;
    ReplayTarget target_;
    FileDescriptor file_;
};

} // namespace kernelskill::engine
