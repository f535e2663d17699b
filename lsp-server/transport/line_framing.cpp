#include "lsp-server/transport/line_framing.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::lsp {

std::optional<std::expected<std::string, FrameError>> LineDecoder::next() {
    for (;;) {
        const auto end = buffer_.find('\n', searched_);
        if (end == std::string::npos) {
            if (buffer_.size() <= maxBodyBytes_) {
                searched_ = buffer_.size();
                return std::nullopt;
            }
            buffer_.clear();
            searched_ = 0;
            if (std::exchange(isSkipping_, true))
                return std::nullopt;
            return std::unexpected(
                FrameError{fmt::format("a message is over the limit of {} bytes", maxBodyBytes_)});
        }
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        searched_ = 0;
        if (std::exchange(isSkipping_, false))
            continue;
        if (line.ends_with('\r'))
            line.pop_back();
        if (line.size() > maxBodyBytes_)
            return std::unexpected(
                FrameError{fmt::format("a message is over the limit of {} bytes", maxBodyBytes_)});
        if (!line.empty())
            return line;
    }
}

} // namespace kernelskill::lsp
