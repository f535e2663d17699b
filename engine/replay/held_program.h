/// A program of the user that waits in a launch of its own while kernels are tried in its place.
#pragma once

#include "analysis/source/error.h"
#include "engine/process/child_messages.h"
#include "engine/process/file_descriptor.h"
#include "engine/replay/replay_target.h"
#include "engine/replay/replay_wire.h"
#include "engine/storage/temporary_folder.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// The program to start, and the library to load into it.
struct ReplayProgram {
    std::vector<std::string> words; ///< Its name, searched in PATH, and its arguments.
    std::filesystem::path folder;   ///< The folder that it runs in; empty: ours.
    std::vector<std::pair<std::string, std::string>> environment; ///< Added to ours.
    std::filesystem::path library;                                ///< libkernelskill-replay.so
    int output = -1; ///< Gets its standard output; -1: nothing does.
    std::chrono::milliseconds startLimit =
        std::chrono::minutes(10); ///< The time to reach the launch.
    std::chrono::milliseconds restLimit =
        std::chrono::minutes(1); ///< The time from the launch to the end of the program.
};

/// Not thread-safe.
class HeldProgram {
public:
    /// Starts the program and waits until it is held. The program gets its own process group and
    /// the user's rights. `target` needs no socket. Errors: Missing if it cannot be started; Failed
    /// if it ends before it is held, or runs longer than its limit, with the last of its messages;
    /// Unsupported with the reason if the launch cannot be tried, after which the program has gone
    /// on to its end unless a kernel has broken its context; Cancelled.
    [[nodiscard]] static Result<std::unique_ptr<HeldProgram>>
    start(const ReplayProgram& program, ReplayTarget target, const std::stop_token& stop);
    HeldProgram(const HeldProgram&) = delete;
    HeldProgram& operator=(const HeldProgram&) = delete;
    /// Ends the program and all that it has started, unless it has ended. Does not wait long for it
    /// to be gone, which may take the driver long if a kernel does not end.
    ~HeldProgram();

    /// Does the same, and waits until the program's memory is free. Errors: Failed if that takes
    /// longer than `time`; Cancelled.
    [[nodiscard]] Result<void> end(std::chrono::milliseconds time, const std::stop_token& stop);

    [[nodiscard]] const HeldDescription& description() const { return description_; }
    /// Its process group.
    [[nodiscard]] pid_t process() const { return process_; }

    /// Failures that the program reports are part of the answer. After an error the program is of
    /// no use. Errors: Failed if it ends, or does not answer within `time`; Cancelled.
    [[nodiscard]] Result<ReplayAnswer>
    ask(const TryRequest& request, std::chrono::milliseconds time, const std::stop_token& stop);

    /// Lets the program go on and waits for its end: the exit status, or 128 + signal. Errors:
    /// Failed if it takes longer than `time`; Cancelled.
    [[nodiscard]] Result<int> resume(std::chrono::milliseconds time, const std::stop_token& stop);

private:
    HeldProgram(TemporaryFolder folder, std::string name)
        : folder_(std::move(folder)), name_(std::move(name)) {}

    [[nodiscard]] Result<void> spawn(const ReplayProgram& program, ReplayTarget target);
    [[nodiscard]] Result<void> awaitHold(std::chrono::milliseconds limit,
                                         const std::stop_token& stop);
    [[nodiscard]] Result<ReplayAnswer> exchange(const ReplayRequest& request,
                                                std::chrono::milliseconds time,
                                                const std::stop_token& stop);
    /// Its exit status if it has ended.
    [[nodiscard]] std::optional<int> endStatus();
    /// The reason that the library gives on standard error, else the last line there.
    [[nodiscard]] std::string lastMessage() const;

    TemporaryFolder folder_;
    std::string name_; ///< Its name in messages: "program './a.out'".
    FileDescriptor listening_;
    FileDescriptor socket_;
    ChildMessages noMessages_; ///< They are in a file, so that they outlive us.
    pid_t process_ = -1;
    std::optional<int> status_; ///< Set when it has ended.
    HeldDescription description_;
};

} // namespace kernelskill::engine
