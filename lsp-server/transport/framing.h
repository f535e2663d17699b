/// The base protocol: `Content-Length: N\r\n\r\n` followed by N bytes of JSON.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

/// Bytes that are not a message. The decoder has already skipped to where the next one may start.
struct FrameError {
    std::string message;
};

/// Cuts a byte stream into message bodies and finds its way back after garbage: a bad header yields
/// one error, then everything up to the next `Content-Length:` is dropped.
class FrameDecoder {
public:
    explicit FrameDecoder(std::size_t maxBodyBytes) : maxBodyBytes_(maxBodyBytes) {}

    void feed(std::string_view bytes);

    /// The next body or error; nullopt when more bytes are needed.
    [[nodiscard]] std::optional<std::expected<std::string, FrameError>> next();

    /// For a body that was not JSON: if it has swallowed the header of a later message (its
    /// announced length was too long), returns the bytes from that header on to the stream.
    void recoverFrom(std::string_view body);

private:
    std::optional<FrameError> skipToHeader(std::string message);

    std::size_t maxBodyBytes_;
    std::string buffer_;
    bool isResyncing_ = false; ///< An error was reported for the garbage at hand.
};

[[nodiscard]] std::string encodeFrame(std::string_view body);

} // namespace kernelskill::lsp
