/// Reads the standard error of a child process.
#pragma once

#include "engine/process/file_descriptor.h"

#include <functional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// Called with each line, without its line end.
using LineSink = std::function<void(std::string_view)>;

/// The reading end of a pipe. Not thread-safe.
class ChildMessages {
public:
    ChildMessages() = default;
    /// Makes `pipe` non-blocking.
    explicit ChildMessages(FileDescriptor pipe);

    /// The descriptor to poll; -1 at the end.
    [[nodiscard]] int descriptor() const { return pipe_.get(); }
    /// Reads the available text without waiting. `onLine` may be empty.
    void take(const LineSink& onLine);
    /// The last kilobytes that were read.
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    FileDescriptor pipe_;
    std::string text_;
    std::string line_; ///< A line that is not complete yet.
};

} // namespace kernelskill::engine
