/// A child process that reads messages from standard input and answers each on standard output, in
/// frames (framing.h).
#pragma once

#include "analysis/source/error.h"
#include "engine/process/child_messages.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kernelskill::engine {

struct FramedChildCommand {
    std::filesystem::path program;
    std::vector<std::string> arguments;
    std::vector<std::string> environment; ///< "NAME=value"; the child gets no other variables.
    std::string calledInMessages;         ///< "emulator worker"
    /// Its standard error is kept for messages(); else it goes to ours.
    bool keepsMessages = false;
    /// The time between SIGTERM and SIGKILL when it is ended. 0: none.
    std::chrono::milliseconds farewell{0};
};

class FramedChild {
public:
    /// Starts it in its own process group, without our open files. Missing if it cannot be started.
    [[nodiscard]] static Result<std::unique_ptr<FramedChild>>
    start(const FramedChildCommand& command);

    FramedChild(const FramedChild&) = delete;
    FramedChild& operator=(const FramedChild&) = delete;
    /// Ends the process. Does not wait for the kernel's clean-up (0.2 seconds for a GPU context).
    ~FramedChild();

    /// Sends a whole frame and waits for the payload of the answer. After an error the process is
    /// useless. Errors: Cancelled on `stop`; Failed if `time` passes, or if the process ends
    /// without an answer. Meanwhile, kept lines of its standard error go to `onMessage`.
    [[nodiscard]] Result<std::vector<std::byte>> exchange(std::span<const std::byte> frame,
                                                          std::chrono::milliseconds time,
                                                          std::stop_token stop,
                                                          const LineSink& onMessage = {});

    /// The newest part of its standard error, as far as exchange() has read it.
    [[nodiscard]] const std::string& messages() const { return messages_.text(); }

    /// Closes the child's input, after which it should end by itself, and waits for that. It cannot
    /// be used afterwards. Returns whether it ended in time.
    [[nodiscard]] bool finish(std::chrono::milliseconds time);

    /// Whether the process still runs, as far as known without asking it.
    [[nodiscard]] bool isAlive() const;

private:
    FramedChild(pid_t process, int socket, ChildMessages messages, FramedChildCommand command)
        : process_(process), socket_(socket), messages_(std::move(messages)),
          command_(std::move(command)) {}

    /// Whether it has ended within `time`.
    bool awaitEnd(std::chrono::milliseconds time);

    pid_t process_;
    bool hasEnded_ = false; ///< Ended and waited for.
    int socket_;
    ChildMessages messages_;
    FramedChildCommand command_;
};

} // namespace kernelskill::engine
