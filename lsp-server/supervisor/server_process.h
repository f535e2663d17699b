/// A server in a process of its own, which talks to this one over two pipes.
#pragma once

#include "analysis/source/error.h"
#include "engine/process/file_descriptor.h"

#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>

namespace kernelskill::lsp {

class ServerProcess {
public:
    /// Forks; `serve` is what the child does, with its standard input and output as pipes to this
    /// process, and returns its exit status. The child is killed when this process ends. No thread
    /// may have been started before.
    [[nodiscard]] static Result<ServerProcess> start(const std::function<int()>& serve);

    ServerProcess(ServerProcess&& other) noexcept;
    ServerProcess& operator=(ServerProcess&&) = delete;
    /// Kills the child if it has not been waited for.
    ~ServerProcess();

    [[nodiscard]] int input() const { return input_.get(); }   ///< Written to.
    [[nodiscard]] int output() const { return output_.get(); } ///< Read from.
    /// The child sees the end of its input once no duplicate of it is open.
    void closeInput() { input_.close(); }

    struct End {
        int status = 0;  ///< Exit status, or 128 + signal.
        std::string how; ///< "signal 11, Segmentation fault"; empty: it ended by itself.
    };
    /// Waits for the child to end, whose output has ended.
    [[nodiscard]] End wait();

private:
    ServerProcess(pid_t process, engine::FileDescriptor input, engine::FileDescriptor output)
        : process_(process), input_(std::move(input)), output_(std::move(output)) {}

    pid_t process_; ///< -1: waited for, or moved from.
    engine::FileDescriptor input_;
    engine::FileDescriptor output_;
};

} // namespace kernelskill::lsp
