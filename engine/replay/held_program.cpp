#include "engine/replay/held_program.h"

#include "analysis/source/files.h"
#include "analysis/source/trimmed.h"
#include "engine/process/argument_pointers.h"
#include "engine/process/frame_exchange.h"
#include "engine/process/own_environment.h"
#include "engine/process/unix_socket.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>

namespace kernelskill::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds look{20};
/// The time in which a killed program is gone as a rule.
constexpr std::chrono::milliseconds usualEnd{500};
/// The time limit of a description: the program saves its memory and runs the kernel for it.
constexpr std::chrono::milliseconds describeLimit{300'000};

Error cancelled() {
    return {ErrorKind::Cancelled, "the trial was cancelled", {}, {}};
}

} // namespace

Result<std::unique_ptr<HeldProgram>>
HeldProgram::start(const ReplayProgram& program, ReplayTarget target, const std::stop_token& stop) {
    if (program.words.empty())
        return std::unexpected(Error{ErrorKind::InvalidInput, "no program to run", {}, {}});
    std::error_code ignored;
    auto folder =
        TemporaryFolder::make(std::filesystem::temp_directory_path(ignored), "kernelskill-replay");
    if (!folder)
        return std::unexpected(Error{ErrorKind::Failed, "no temporary folder", {}, "set TMPDIR"});
    std::unique_ptr<HeldProgram> held(
        new HeldProgram(std::move(*folder), "program '" + program.words.front() + "'"));
    if (auto spawned = held->spawn(program, std::move(target)); !spawned)
        return std::unexpected(spawned.error());
    if (auto waited = held->awaitHold(program.startLimit, stop); !waited)
        return std::unexpected(waited.error());
    auto answer = held->exchange(DescribeHeldRequest{}, describeLimit, stop);
    if (!answer)
        return std::unexpected(answer.error());
    if (const auto* failure = std::get_if<ReplayFailure>(&*answer)) {
        if (!failure->isFatal) {
            const auto end = held->resume(program.restLimit, stop);
            if (!end && end.error().kind == ErrorKind::Cancelled)
                return std::unexpected(end.error());
        }
        return std::unexpected(failure->error);
    }
    auto* description = std::get_if<HeldDescription>(&*answer);
    if (description == nullptr)
        return std::unexpected(
            Error{ErrorKind::Internal, "the held program answered another question", {}, {}});
    held->description_ = std::move(*description);
    return held;
}

Result<void> HeldProgram::spawn(const ReplayProgram& program, ReplayTarget target) {
    target.socket = (folder_.path() / "socket").string();
    listening_ = listeningSocket(target.socket);
    if (!listening_.isOpen())
        return std::unexpected(Error{ErrorKind::Failed,
                                     std::string("no socket: ") + std::strerror(errno),
                                     target.socket, "set TMPDIR to a folder with a short name"});
    auto added = program.environment;
    added.emplace_back("CUDA_INJECTION64_PATH", program.library.string());
    added.emplace_back(replayVariable, formatReplayTarget(target));
    auto words = program.words;
    auto variables = ownEnvironmentWith(added, program.folder);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (program.output >= 0)
        posix_spawn_file_actions_adddup2(&actions, program.output, STDOUT_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const std::string messages = (folder_.path() / "messages").string();
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (!program.folder.empty())
        posix_spawn_file_actions_addchdir_np(&actions, program.folder.c_str());
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigaddset(&signals, SIGINT); // An ignored signal would stay ignored in the program.
    sigaddset(&signals, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    const int problem =
        ::posix_spawnp(&process_, words.front().c_str(), &actions, &attributes,
                       argumentPointers(words).data(), argumentPointers(variables).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (problem == 0)
        return {};
    process_ = -1;
    return std::unexpected(Error{
        ErrorKind::Missing, "the program cannot be started: " + std::string(std::strerror(problem)),
        program.words.front(), "look at its name and whether it may be executed"});
}

Result<void> HeldProgram::awaitHold(std::chrono::milliseconds limit, const std::stop_token& stop) {
    const auto end = Clock::now() + limit;
    while (true) {
        if (stop.stop_requested())
            return std::unexpected(cancelled());
        pollfd waiting{listening_.get(), POLLIN, 0};
        if (::poll(&waiting, 1, static_cast<int>(look.count())) > 0) {
            socket_ = FileDescriptor(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (!socket_.isOpen())
                continue;
            listening_.close(); // Other processes of the program go on without being held.
            return {};
        }
        if (const auto status = endStatus()) {
            const std::string said = lastMessage();
            return std::unexpected(
                Error{ErrorKind::Failed,
                      "the " + name_ + " ended with status " + std::to_string(*status) +
                          " before the launch that was to be held" +
                          (said.empty() ? "" : "; it said: " + said),
                      {},
                      "look whether it launches the kernel, and not only in a graph"});
        }
        if (Clock::now() > end)
            return std::unexpected(Error{ErrorKind::Failed,
                                         "the " + name_ + " did not reach the launch in " +
                                             std::to_string(limit.count() / 1000) + " s",
                                         {},
                                         {}});
    }
}

Result<ReplayAnswer> HeldProgram::exchange(const ReplayRequest& request,
                                           std::chrono::milliseconds time,
                                           const std::stop_token& stop) {
    const LineSink nobody;
    auto payload =
        exchangeFrame({socket_.get(), name_, noMessages_, nobody}, encode(request), time, stop);
    if (payload)
        return decodeReplayAnswer(*payload);
    if (payload.error().kind != ErrorKind::Cancelled) {
        // The end of the process follows the end of its answers.
        const auto end = Clock::now() + 10 * look;
        while (!endStatus() && Clock::now() < end)
            std::this_thread::sleep_for(look);
        if (const auto status = endStatus())
            payload.error().what =
                "the " + name_ + " ended while it was held, with status " + std::to_string(*status);
    }
    return std::unexpected(payload.error());
}

Result<ReplayAnswer> HeldProgram::ask(const TryRequest& request, std::chrono::milliseconds time,
                                      const std::stop_token& stop) {
    return exchange(request, time, stop);
}

Result<int> HeldProgram::resume(std::chrono::milliseconds time, const std::stop_token& stop) {
    const auto frame = encode(ReplayRequest(ResumeRequest{}));
    // If it is not read, the end of the socket says the same.
    static_cast<void>(::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL));
    socket_.close();
    const auto end = Clock::now() + time;
    while (true) {
        if (const auto status = endStatus())
            return *status;
        if (stop.stop_requested())
            return std::unexpected(cancelled());
        if (Clock::now() > end)
            return std::unexpected(Error{ErrorKind::Failed,
                                         "the " + name_ + " did not end in " +
                                             std::to_string(time.count() / 1000) +
                                             " s after the trials",
                                         {},
                                         {}});
        std::this_thread::sleep_for(look);
    }
}

std::optional<int> HeldProgram::endStatus() {
    int status = 0;
    if (!status_ && ::waitpid(process_, &status, WNOHANG) == process_)
        status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return status_;
}

std::string HeldProgram::lastMessage() const {
    const auto text = analysis::readFile(folder_.path() / "messages");
    if (!text)
        return {};
    if (const auto at = text->find(notHeldPrefix); at != std::string::npos) {
        const auto begin = at + notHeldPrefix.size();
        return text->substr(begin, text->find('\n', begin) - begin);
    }
    const std::string said(analysis::trimmed(*text));
    return said.substr(said.rfind('\n') + 1);
}

Result<void> HeldProgram::end(std::chrono::milliseconds time, const std::stop_token& stop) {
    if (process_ < 0 || endStatus())
        return {};
    // Before the socket closes, which would let the program go on.
    ::kill(-process_, SIGKILL);
    const auto end = Clock::now() + time;
    while (!endStatus()) {
        if (stop.stop_requested())
            return std::unexpected(cancelled());
        if (Clock::now() > end)
            return std::unexpected(Error{ErrorKind::Failed,
                                         "the " + name_ + " was killed and is not gone after " +
                                             std::to_string(time.count() / 1000) + " s",
                                         {},
                                         {}});
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
}

HeldProgram::~HeldProgram() {
    if (end(usualEnd, {}))
        return;
    // It has to be waited for, whenever it ends: it would stay in the list of processes.
    std::thread([process = process_] {
        while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
        }
    }).detach();
}

} // namespace kernelskill::engine
