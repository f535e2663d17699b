#include "engine/process/child_messages.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::size_t maxKeptBytes = 16'384;

void keepNewest(std::string& text) {
    if (text.size() > maxKeptBytes)
        text.erase(0, text.size() - maxKeptBytes);
}

} // namespace

ChildMessages::ChildMessages(FileDescriptor pipe) : pipe_(std::move(pipe)) {
    ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
}

void ChildMessages::take(const LineSink& onLine) {
    std::array<char, 4096> part{};
    while (pipe_.isOpen()) {
        const ssize_t count = ::read(pipe_.get(), part.data(), part.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            break;
        if (count <= 0) {
            pipe_.close();
            break;
        }
        const std::string_view said(part.data(), static_cast<std::size_t>(count));
        text_ += said;
        line_ += said;
        for (auto end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
            if (onLine)
                onLine(std::string_view(line_).substr(0, end));
            line_.erase(0, end + 1);
        }
        keepNewest(text_);
        keepNewest(line_);
    }
}

} // namespace kernelskill::engine
