// kernelskill-torch: reads requests from standard input and answers each on standard output, in
// frames (engine/process/framing.h). The server starts it, and kills it if a request takes too
// long. It ends by itself when the server is gone. With arguments it answers the one request that
// they stand for (command_line.h).
#include "engine/graph/reference/torch_wire.h"
#include "engine/graph/torch/command_line.h"
#include "engine/graph/torch/jobs.h"
#include "engine/process/frame_io.h"
#include "engine/process/watchdog.h"

#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

std::vector<std::byte> lateAnswer(std::chrono::milliseconds time) {
    return encode(TorchAnswer(
        TorchFailure{{ErrorKind::Failed,
                      "LibTorch did not end within " + std::to_string(time.count()) + " ms",
                      {},
                      "give it more time, or run a smaller program"},
                     true}));
}

/// Sends what libraries print to standard output, the channel of answers, to standard error.
/// Returns the descriptor of that channel; negative if there is none.
int takeStandardOutput() {
    const int answers = ::dup(STDOUT_FILENO);
    return ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? -1 : answers;
}

/// Returns the exit status.
int serve() {
    const int answers = takeStandardOutput();
    if (answers < 0)
        return 1;
    Watchdog watchdog(STDIN_FILENO, answers, lateAnswer);
    while (const auto payload = wire::readPayload(STDIN_FILENO)) {
        const auto request = decodeTorchRequest(*payload);
        TorchAnswer reply = TorchFailure{};
        if (request) {
            const auto guarded = watchdog.guard(timeLimit(*request));
            reply = answer(*request);
        } else {
            reply = TorchFailure{request.error(), false};
        }
        if (!watchdog.send(encode(reply)))
            return 0;
    }
    return 0;
}

/// Returns the exit status.
int answerOnce(std::span<const char* const> words) {
    if (words.size() == 1 && std::string_view(words.front()) == "--help") {
        std::fputs(std::string(usage()).c_str(), stdout);
        std::fflush(stdout);
        return 0;
    }
    const auto request = requestFrom(words);
    if (!request) {
        std::fprintf(stderr, "kernelskill-torch: %s\n", request.error().describe().c_str());
        return 2;
    }
    const int answers = takeStandardOutput();
    const TorchAnswer reply = answer(*request);
    const std::string text = jsonOf(reply) + "\n";
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    if (answers < 0 || !wire::writeAll(answers, {bytes, text.size()}))
        return 1;
    return exitStatus(reply);
}

} // namespace
} // namespace kernelskill::engine::graph

int main(int count, char** words) {
    using namespace kernelskill::engine::graph;
    const int status =
        count > 1 ? answerOnce({words + 1, static_cast<std::size_t>(count - 1)}) : serve();
    // Skip the clean-up at exit, which takes time and hangs after some errors of a GPU.
    ::_exit(status);
}
