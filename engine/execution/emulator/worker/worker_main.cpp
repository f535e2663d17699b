// `emulator-worker`: reads jobs, runs each in a child process, and forwards its report.
#include "engine/execution/emulator/worker/worker_main.h"

#include "engine/execution/captured_data.h"
#include "engine/execution/emulator/wire/wire.h"
#include "engine/execution/emulator/worker/fault_handlers.h"
#include "engine/execution/emulator/worker/instrumentation.h"
#include "engine/execution/emulator/worker/launch.h"
#include "engine/execution/emulator/worker/loaded_image.h"
#include "engine/execution/emulator/worker/report_channel.h"
#include "engine/execution/emulator/worker/sandbox.h"
#include "engine/process/frame_io.h"
#include "engine/process/framing.h"

#include <spdlog/fmt/fmt.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <span>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
// The linker's names for both ends of the section with built-in variables.
extern KsIndex __start_ks_builtins[]; // NOLINT(bugprone-reserved-identifier)
extern KsIndex __stop_ks_builtins[];  // NOLINT(bugprone-reserved-identifier)
}

namespace kernelskill::engine {

namespace {

using emulator::FaultContext;
using emulator::hookState;
using emulator::Launch;
using emulator::LoadedImage;
using emulator::ReportChannel;
using emulator::WorkerFailure;
using emulator::WorkerJob;
using emulator::WorkerReport;
using wire::frameHeaderBytes;

/// The max size of a report without the contents of buffers, ten times that of the largest
/// kernels.
constexpr std::uint64_t maxReportBytes = 256ull << 20;

constexpr std::uint64_t arenaOverhead = 8ull
                                        << 30; ///< For fiber stacks and tables, mostly never used.

std::vector<std::byte> failureFrame(ErrorKind kind, std::string what, std::string remedy) {
    WorkerReport report;
    report.failure = WorkerFailure{kind, std::move(what), "", std::move(remedy), 0};
    return emulator::encode(report);
}

/// Runs in the child: from here on the process belongs to the job.
[[noreturn]] void runJob(const WorkerJob& job, int reportDescriptor,
                         emulator::EventObserver observer) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == 1)
        _exit(1);
    static const ReportChannel channel{reportDescriptor};
    static const std::string path = job.image;
    const auto fail = [](const Error& error) {
        WorkerReport report;
        report.failure = WorkerFailure{error.kind, error.what, error.where, error.remedy, 0};
        channel.finish(report);
    };
    const int image = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (image < 0) {
        fail({ErrorKind::Failed,
              fmt::format("cannot open the compiled kernel: {}", strerror(errno)), path, ""});
    }
    // Opened before the sandbox closes; mappings remain.
    auto captured = openCaptured(job.job.launch);
    if (!captured)
        fail(captured.error());
    if (auto handlers = emulator::installFaultHandlers(FaultContext{&channel, &path, image},
                                                       job.job.limits.time);
        !handlers)
        fail(handlers.error());
    const auto cpu = std::chrono::duration_cast<std::chrono::seconds>(job.job.limits.time) +
                     std::chrono::seconds{5};
    // A byte of a buffer has four bytes of shadow.
    if (auto sandbox = emulator::enterSandbox(
            reportDescriptor, image, {job.job.limits.memoryBytes * 6 + arenaOverhead, cpu});
        !sandbox)
        fail(sandbox.error());

    hookState.builtins = {reinterpret_cast<std::uint64_t>(__start_ks_builtins),
                          static_cast<std::uint64_t>(__stop_ks_builtins - __start_ks_builtins) *
                              sizeof(KsIndex)};
    auto loaded = LoadedImage::load(path);
    if (!loaded)
        fail(loaded.error());
    loaded->setSharedVariables(emulator::readSharedVariables(image));
    auto launch = Launch::prepare(job.job, *loaded, channel, job.part, std::move(*captured));
    if (!launch)
        fail(launch.error());
    (*launch)->observe(observer);
    channel.finish((*launch)->run());
}

std::string describeEnd(int status) {
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        return signal == SIGXCPU || signal == SIGKILL
                   ? std::string("the emulator's process was killed: out of memory or time")
                   : fmt::format("the emulator's process was ended by signal {} ({})", signal,
                                 strsignal(signal));
    }
    return fmt::format("the emulator's process ended with status {} and no report",
                       WEXITSTATUS(status));
}

enum class Collected : std::uint8_t { Everything, TooMuch, ServerGone };

/// Reads until the child closes its end or has written more than the frame that it began, or than
/// `maxBytes`: a kernel can write to the channel as well, without end.
Collected collect(int report, int server, std::uint64_t maxBytes, std::vector<std::byte>& bytes) {
    std::array<std::byte, 1 << 16> part;
    while (true) {
        std::array<pollfd, 2> waiting{pollfd{report, POLLIN, 0}, pollfd{server, 0, 0}};
        if (poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR)
            return Collected::ServerGone;
        if ((waiting[1].revents & (POLLHUP | POLLERR)) != 0)
            return Collected::ServerGone;
        if (waiting[0].revents == 0)
            continue;
        const ssize_t count = read(report, part.data(), part.size());
        if (count == 0 || (count < 0 && errno != EINTR))
            return Collected::Everything;
        if (count < 0)
            continue;
        bytes.insert(bytes.end(), part.data(), part.data() + count);
        if (bytes.size() < frameHeaderBytes)
            continue;
        const auto length = wire::payloadLength(std::span(bytes).first<frameHeaderBytes>());
        if (!length || frameHeaderBytes + *length > maxBytes ||
            bytes.size() > frameHeaderBytes + *length)
            return Collected::TooMuch;
    }
}

bool isWhole(const std::vector<std::byte>& frame) {
    if (frame.size() < frameHeaderBytes)
        return false;
    const auto length = wire::payloadLength(std::span(frame).first<frameHeaderBytes>());
    return length && frame.size() == frameHeaderBytes + *length;
}

/// Runs one job in a child and answers. Returns false if the server is gone.
bool serve(std::span<const std::byte> payload, emulator::EventObserver observer) {
    const Result<WorkerJob> job = emulator::decodeJob(payload);
    if (!job)
        return wire::writeAll(STDOUT_FILENO, failureFrame(job.error().kind, job.error().what, ""));
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        return wire::writeAll(STDOUT_FILENO,
                              failureFrame(ErrorKind::Failed, "out of descriptors", ""));
    const pid_t child = fork();
    if (child == 0)
        runJob(*job, ends[1], observer);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return wire::writeAll(STDOUT_FILENO,
                              failureFrame(ErrorKind::Failed, "cannot start a process", ""));
    }
    std::vector<std::byte> frame;
    const Job& asked = job->job;
    const Collected collected =
        collect(ends[0], STDIN_FILENO,
                maxReportBytes + (asked.wantOutputs ? asked.limits.memoryBytes : 0), frame);
    close(ends[0]);
    // The report ends the child's work.
    kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (collected == Collected::ServerGone)
        return false;
    if (collected == Collected::TooMuch)
        frame = failureFrame(ErrorKind::Failed,
                             "the kernel wrote to the emulator's own channel, and was stopped", "");
    else if (!isWhole(frame))
        frame = failureFrame(ErrorKind::Failed, describeEnd(status), "");
    return wire::writeAll(STDOUT_FILENO, frame);
}

} // namespace

int runEmulatorWorker(emulator::EventObserver observer) {
    std::signal(SIGPIPE, SIG_IGN);
    // A process that runs kernels must not have the server's other descriptors.
    close_range(3, ~0u, 0);
    while (const auto payload = wire::readPayload(STDIN_FILENO)) {
        if (!serve(*payload, observer))
            break;
    }
    return 0;
}

} // namespace kernelskill::engine
