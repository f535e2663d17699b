/// Reads server-sent events from a stream of bytes, as the HTML standard defines them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

struct ServerSentEvent {
    std::string type; ///< The field `event`; empty if absent.
    std::string data; ///< Lines joined by '\n'.
};

/// Accepts bytes cut anywhere, even inside a line end.
class SseReader {
public:
    /// A line or an event may have at most `maxEventBytes` bytes.
    explicit SseReader(std::size_t maxEventBytes) : maxEventBytes_(maxEventBytes) {}

    /// Calls `onEvent` for each event that `bytes` completes. Ignores events without data. Returns
    /// false if one is too long, and in all later calls.
    [[nodiscard]] bool feed(std::string_view bytes,
                            const std::function<void(const ServerSentEvent&)>& onEvent);
    /// Whether the stream stopped inside an event, which is then lost.
    [[nodiscard]] bool isInsideEvent() const { return !line_.empty() || hasFields_; }

private:
    void takeLine(const std::function<void(const ServerSentEvent&)>& onEvent);
    void takeField(std::string_view name, std::string_view value);

    std::size_t maxEventBytes_;
    std::string line_;
    ServerSentEvent event_;
    bool hasFields_ = false;
    bool hasData_ = false;
    bool isAtStart_ = true; ///< At the start of the stream, where a byte order mark may be.
    bool afterCarriageReturn_ = false;
    bool isTooLong_ = false;
};

} // namespace kernelskill::engine
