// kernelskill-runner: reads jobs for one GPU from standard input and answers each on standard
// output, in frames (engine/process/framing.h). The server starts it, and kills it if a job takes
// too long. It ends by itself when the server is gone.
#include "engine/execution/gpu/runner/job_runner.h"
#include "engine/execution/gpu/runner/printed_text.h"
#include "engine/process/frame_io.h"
#include "engine/process/watchdog.h"

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace kernelskill::engine::gpu {
namespace {

struct Arguments {
    int device = 0;
    std::string cupti;
};

std::optional<Arguments> parse(std::span<char*> words) {
    Arguments arguments;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string word = words[i];
        static constexpr std::string_view device = "--device=";
        static constexpr std::string_view cupti = "--cupti=";
        if (word.starts_with(device)) {
            const char* end = word.data() + word.size();
            const auto [rest, problem] =
                std::from_chars(word.data() + device.size(), end, arguments.device);
            if (problem != std::errc() || rest != end || arguments.device < 0)
                return std::nullopt;
        } else if (word.starts_with(cupti)) {
            arguments.cupti = word.substr(cupti.size());
        } else {
            return std::nullopt;
        }
    }
    return arguments;
}

std::vector<std::byte> lateAnswer(std::chrono::milliseconds time) {
    return encode(Answer(FailureAnswer{
        {ErrorKind::Failed,
         "the kernel did not end within " + std::to_string(time.count()) + " ms on the GPU",
         {},
         "launch a smaller problem, or look for an endless loop with the emulator"},
        true}));
}

/// Returns the exit status.
int serve(const Arguments& arguments) {
    // Kernels print to standard output, which is the server's channel, so separate them.
    const int answers = ::dup(STDOUT_FILENO);
    auto printed = PrintedText::redirectStandardOutput();
    if (answers < 0 || !printed)
        return 1;
    Watchdog watchdog(STDIN_FILENO, answers, lateAnswer);
    std::unique_ptr<JobRunner> runner;
    while (const auto payload = wire::readPayload(STDIN_FILENO)) {
        const auto request = decodeRequest(*payload);
        Answer answer = FailureAnswer{};
        if (!request) {
            answer = FailureAnswer{request.error(), false};
        } else {
            const auto guarded = watchdog.guard(timeLimit(*request));
            if (!runner) {
                if (auto opened = JobRunner::open(arguments.device, arguments.cupti))
                    runner = std::move(*opened);
                else
                    answer = FailureAnswer{opened.error(), false};
            }
            if (runner)
                answer = runner->answer(*request);
        }
        if (auto* run = std::get_if<RunAnswer>(&answer))
            run->printed = printed->take();
        if (!watchdog.send(encode(answer)))
            return 0;
        const auto* failure = std::get_if<FailureAnswer>(&answer);
        if (failure != nullptr && failure->isFatal)
            return 1;
    }
    return 0;
}

} // namespace
} // namespace kernelskill::engine::gpu

int main(int count, char** words) {
    using namespace kernelskill::engine::gpu;
    const auto arguments = parse({words, static_cast<std::size_t>(count)});
    if (!arguments) {
        std::fputs("usage: kernelskill-runner [--device=N] [--cupti=LIBRARY]\n"
                   "Runs GPU jobs for kernelskill, which starts it.\n",
                   stderr);
        return 2;
    }
    const int status = serve(*arguments);
    // Skip the driver's clean-up at exit, which takes time and hangs after some errors.
    ::_exit(status);
}
