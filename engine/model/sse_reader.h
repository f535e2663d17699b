/// Server-sent events out of a stream of bytes, as the HTML standard defines them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

struct ServerSentEvent {
    std::string type; ///< Of the field `event`; empty when there was none.
    std::string data; ///< Lines joined by '\n'.
};

/// Bytes may be cut anywhere, in the middle of a line end too.
class SseReader {
public:
    /// No line and no event may be longer than `maxEventBytes` bytes.
    explicit SseReader(std::size_t maxEventBytes) : maxEventBytes_(maxEventBytes) {}

    /// Calls `onEvent` for each event that `bytes` completes. An event without data is none. False
    /// when one is too long, and from then on.
    [[nodiscard]] bool feed(std::string_view bytes,
                            const std::function<void(const ServerSentEvent&)>& onEvent);
    /// Whether the stream stopped inside an event: what came of it is lost.
    [[nodiscard]] bool isInsideEvent() const { return !line_.empty() || hasFields_; }

private:
    void takeLine(const std::function<void(const ServerSentEvent&)>& onEvent);
    void takeField(std::string_view name, std::string_view value);

    std::size_t maxEventBytes_;
    std::string line_;
    ServerSentEvent event_;
    bool hasFields_ = false;
    bool hasData_ = false;
    bool isAtStart_ = true; ///< Of the stream: a byte order mark may follow.
    bool afterCarriageReturn_ = false;
    bool isTooLong_ = false;
};

} // namespace kernelskill::engine
