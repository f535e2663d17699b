/// A child process that takes messages on its standard input and answers each on its standard
/// output, in frames (framing.h).
#pragma once

#include "analysis/source/error.h"

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
};

class FramedChild {
public:
    /// In a process group of its own, with nothing of ours open. Missing when it cannot be started.
    [[nodiscard]] static Result<std::unique_ptr<FramedChild>>
    start(const FramedChildCommand& command);

    FramedChild(const FramedChild&) = delete;
    FramedChild& operator=(const FramedChild&) = delete;
    /// Kills the process and waits for it.
    ~FramedChild();

    /// Sends a whole frame and waits for the payload of the answer. After an error the process is
    /// of no more use. Cancelled when `stop` asks; Failed when `time` passes or the process ends
    /// without an answer.
    [[nodiscard]] Result<std::vector<std::byte>> exchange(std::span<const std::byte> frame,
                                                          std::chrono::milliseconds time,
                                                          std::stop_token stop);

    /// Whether the process is still there, as far as can be told without asking it.
    [[nodiscard]] bool isAlive() const;

private:
    FramedChild(pid_t process, int socket, std::string calledInMessages)
        : process_(process), socket_(socket), calledInMessages_(std::move(calledInMessages)) {}

    pid_t process_;
    int socket_;
    std::string calledInMessages_;
};

} // namespace kernelskill::engine
