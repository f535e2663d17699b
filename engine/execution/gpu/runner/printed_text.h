/// Collects the output of printf in kernels, apart from the channel to the server.
#pragma once

#include "engine/process/file_descriptor.h"

#include <optional>
#include <string>

namespace kernelskill::engine::gpu {

class PrintedText {
public:
    static constexpr std::size_t maxBytes = 1 << 20;

    /// Redirects standard output to a file in memory. nullopt if the system refuses.
    [[nodiscard]] static std::optional<PrintedText> redirectStandardOutput();

    /// The text since the last call, at most `maxBytes`.
    [[nodiscard]] std::string take() const;

private:
    explicit PrintedText(FileDescriptor file) : file_(std::move(file)) {}
    FileDescriptor file_;
};

} // namespace kernelskill::engine::gpu
