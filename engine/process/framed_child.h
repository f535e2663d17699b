/// A child process that takes messages on its standard input and answers each on its standard
/// output, in frames (framing.h).
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
    std::vector<std::string> environment; ///< "NAME=value"; all that the child gets.
    std::string calledInMessages;         ///< "emulator worker"
    /// Its standard error is kept, for messages(); else it goes where ours goes.
    bool keepsMessages = false;
    /// What it gets to tidy up between SIGTERM and SIGKILL, when it is ended. 0: nothing.
    std::chrono::milliseconds farewell{0};
};

class FramedChild {
public:
    /// In a process group of its own, with nothing of ours open. Missing when it cannot be started.
    [[nodiscard]] static Result<std::unique_ptr<FramedChild>>
    start(const FramedChildCommand& command);

    FramedChild(const FramedChild&) = delete;
    FramedChild& operator=(const FramedChild&) = delete;
    /// Ends the process. What the kernel takes apart after it (a GPU's context: 0.2 seconds) is not
    /// waited for.
    ~FramedChild();

    /// Sends a whole frame and waits for the payload of the answer. After an error the process is
    /// of no more use. Cancelled when `stop` asks; Failed when `time` passes or the process ends
    /// without an answer. Lines of a child that keeps its messages go to `onMessage` meanwhile.
    [[nodiscard]] Result<std::vector<std::byte>> exchange(std::span<const std::byte> frame,
                                                          std::chrono::milliseconds time,
                                                          std::stop_token stop,
                                                          const LineSink& onMessage = {});

    /// What it has written to standard error, for exchange() to read; the newest of it.
    [[nodiscard]] const std::string& messages() const { return messages_.text(); }

    /// Whether the process is still there, as far as can be told without asking it.
    [[nodiscard]] bool isAlive() const;

private:
    FramedChild(pid_t process, int socket, ChildMessages messages, FramedChildCommand command)
        : process_(process), socket_(socket), messages_(std::move(messages)),
          command_(std::move(command)) {}

    /// Whether it has ended, `time` from now at the latest.
    bool awaitEnd(std::chrono::milliseconds time);

    pid_t process_;
    bool hasEnded_ = false; ///< And was waited for.
    int socket_;
    ChildMessages messages_;
    FramedChildCommand command_;
};

} // namespace kernelskill::engine
