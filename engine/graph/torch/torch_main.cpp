// kernelskill-torch: reads requests from standard input and answers each on standard output, in
// frames (engine/process/framing.h). The server starts it, and kills it if a request takes too
// long. It ends by itself when the server is gone.
#include "engine/graph/reference/torch_wire.h"
#include "engine/graph/torch/jobs.h"
#include "engine/process/frame_io.h"
#include "engine/process/watchdog.h"

#include <chrono>
#include <cstdio>
#include <string>
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

/// Returns the exit status.
int serve() {
    // Libraries print to standard output, which is the server's channel: what they print goes to
    // standard error.
    const int answers = ::dup(STDOUT_FILENO);
    if (answers < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
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

} // namespace
} // namespace kernelskill::engine::graph

int main(int count, char**) {
    if (count != 1) {
        std::fputs("usage: kernelskill-torch\n"
                   "Runs PyTorch programs for kernelskill, which starts it.\n",
                   stderr);
        return 2;
    }
    const int status = kernelskill::engine::graph::serve();
    // Skip the clean-up at exit, which takes time and hangs after some errors of a GPU.
    ::_exit(status);
}
