#include "lsp-server/transport/framing.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace kernelskill::lsp {

namespace {

constexpr std::string_view lengthName = "content-length:";
constexpr std::string_view headerEnd = "\r\n\r\n";
constexpr std::size_t maxHeaderBytes = 8192;

std::size_t findLengthHeader(std::string_view text, std::size_t from) {
    const auto equal = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == b;
    };
    if (from >= text.size())
        return std::string_view::npos;
    const auto found = std::search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(),
                                   lengthName.begin(), lengthName.end(), equal);
    return found == text.end() ? std::string_view::npos
                               : static_cast<std::size_t>(found - text.begin());
}

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool isFieldName(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_';
    });
}

/// The announced length of a header block (without the blank line), or what is wrong with it.
std::expected<std::size_t, std::string> parseHeader(std::string_view header) {
    std::optional<std::size_t> length;
    while (!header.empty()) {
        const auto end = std::min(header.find("\r\n"), header.size());
        const std::string_view line = header.substr(0, end);
        header.remove_prefix(std::min(end + 2, header.size()));
        const auto colon = line.find(':');
        if (colon == std::string_view::npos || !isFieldName(line.substr(0, colon)))
            return std::unexpected(std::string("a header line is not of the form 'Name: value'"));
        if (findLengthHeader(line, 0) != 0)
            continue;
        const std::string_view value = trim(line.substr(colon + 1));
        std::size_t number = 0;
        const auto [stop, error] =
            std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc{} || stop != value.data() + value.size())
            return std::unexpected(
                fmt::format("Content-Length is not a length: '{}'", value.substr(0, 40)));
        if (length && *length != number)
            return std::unexpected(std::string("Content-Length is given twice, differently"));
        length = number;
    }
    if (!length)
        return std::unexpected(std::string("a header has no Content-Length"));
    return *length;
}

/// The offset of a sound header in a block with garbage in front; npos when there is none. Of
/// lengths in one header that contradict each other none is believed.
std::size_t findSoundHeader(std::string_view block) {
    const bool beginsAsHeader = findLengthHeader(block, 0) == 0;
    for (auto at = findLengthHeader(block, 1); at != std::string_view::npos;
         at = findLengthHeader(block, at + 1)) {
        const bool isNextLine = beginsAsHeader && block[at - 1] == '\n';
        if (!isNextLine && parseHeader(block.substr(at)))
            return at;
    }
    return std::string_view::npos;
}

} // namespace

void FrameDecoder::feed(std::string_view bytes) {
    buffer_.append(bytes);
}

std::optional<FrameError> FrameDecoder::skipToHeader(std::string message) {
    // Keep what may be the first half of a header's name.
    const auto next = findLengthHeader(buffer_, 1);
    const std::size_t keep = std::min(buffer_.size(), lengthName.size() - 1);
    buffer_.erase(0, next != std::string_view::npos ? next : buffer_.size() - keep);
    if (isResyncing_)
        return std::nullopt;
    isResyncing_ = true;
    return FrameError{std::move(message)};
}

std::optional<std::expected<std::string, FrameError>> FrameDecoder::next() {
    while (!buffer_.empty()) {
        const auto end = buffer_.find(headerEnd);
        if (end == std::string::npos) {
            if (buffer_.size() <= maxHeaderBytes)
                return std::nullopt;
            if (auto error = skipToHeader("no header within the first 8 KiB"))
                return std::unexpected(std::move(*error));
            if (buffer_.size() <= maxHeaderBytes)
                return std::nullopt;
            continue;
        }
        const auto length = parseHeader(std::string_view(buffer_).substr(0, end));
        if (!length) {
            // Garbage in front of a sound header goes; of a header that contradicts itself, all
            // goes.
            const auto sound = findSoundHeader(std::string_view(buffer_).substr(0, end));
            buffer_.erase(0, sound != std::string::npos ? sound : end + headerEnd.size());
            if (isResyncing_)
                continue;
            isResyncing_ = true;
            return std::unexpected(FrameError{length.error()});
        }
        const std::size_t bodyBegin = end + headerEnd.size();
        if (*length > maxBodyBytes_) {
            // The length may be a lie, so it is not skipped by count: no JSON text holds a raw line
            // end inside a string, so the next thing that looks like a header is one.
            buffer_.erase(0, bodyBegin);
            isResyncing_ = true;
            return std::unexpected(FrameError{fmt::format(
                "a message of {} bytes is over the limit of {} bytes", *length, maxBodyBytes_)});
        }
        if (buffer_.size() - bodyBegin < *length)
            return std::nullopt;
        std::string body = buffer_.substr(bodyBegin, *length);
        buffer_.erase(0, bodyBegin + *length);
        isResyncing_ = false;
        return body;
    }
    return std::nullopt;
}

void FrameDecoder::recoverFrom(std::string_view body) {
    const auto header = findLengthHeader(body, 0);
    if (header != std::string_view::npos)
        buffer_.insert(0, body.substr(header));
    // The bytes after a body of the wrong length are its rest: the error for it has been given.
    isResyncing_ = true;
}

std::string encodeFrame(std::string_view body) {
    return fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
}

} // namespace kernelskill::lsp
