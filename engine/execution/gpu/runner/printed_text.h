/// What kernels print with printf, kept away from the channel to the server.
#pragma once

#include "engine/process/file_descriptor.h"

#include <optional>
#include <string>

namespace kernelskill::engine::gpu {

class PrintedText {
public:
    static constexpr std::size_t maxBytes = 1 << 20;

    /// From now on, standard output is a file in memory. nullopt when the system refuses.
    [[nodiscard]] static std::optional<PrintedText> redirectStandardOutput();

    /// What was printed since the last call, at most `maxBytes` of it.
    [[nodiscard]] std::string take() const;

private:
    explicit PrintedText(FileDescriptor file) : file_(std::move(file)) {}
    FileDescriptor file_;
};

} // namespace kernelskill::engine::gpu
