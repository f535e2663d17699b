/// What a child process writes to its standard error.
#pragma once

#include "engine/process/file_descriptor.h"

#include <functional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// Called with each line, without its end.
using LineSink = std::function<void(std::string_view)>;

/// The reading end of a pipe. Not thread-safe.
class ChildMessages {
public:
    ChildMessages() = default;
    /// Makes `pipe` non-blocking.
    explicit ChildMessages(FileDescriptor pipe);

    /// To poll; -1 when there is nothing more to come.
    [[nodiscard]] int descriptor() const { return pipe_.get(); }
    /// Takes what is there, without waiting. `onLine` may be empty.
    void take(const LineSink& onLine);
    /// The newest of all that was taken: some kilobytes.
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    FileDescriptor pipe_;
    std::string text_;
    std::string line_; ///< Whose end has not come yet.
};

} // namespace kernelskill::engine
