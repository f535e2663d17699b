/// Messages that are lines, as the Model Context Protocol sends them.
#pragma once

#include "lsp-server/transport/framing.h"

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

/// Cuts a byte stream into lines. Empty lines are no messages. Of a line that is longer than the
/// limit one error is told, and the rest of it is dropped.
class LineDecoder {
public:
    explicit LineDecoder(std::size_t maxBodyBytes) : maxBodyBytes_(maxBodyBytes) {}

    void feed(std::string_view bytes) { buffer_.append(bytes); }
    /// The next line or error; nullopt when more bytes are needed.
    [[nodiscard]] std::optional<std::expected<std::string, FrameError>> next();

private:
    std::size_t maxBodyBytes_;
    std::string buffer_;
    std::size_t searched_ = 0; ///< Bytes of the buffer that hold no line end.
    bool isSkipping_ = false;  ///< The line at hand is too long and has been told of.
};

} // namespace kernelskill::lsp
