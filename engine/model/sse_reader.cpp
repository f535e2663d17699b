#include "engine/model/sse_reader.h"

namespace kernelskill::engine {

bool SseReader::feed(std::string_view bytes,
                     const std::function<void(const ServerSentEvent&)>& onEvent) {
    for (const char c : bytes) {
        if (isTooLong_)
            return false;
        const bool endsLine = c == '\r' || (c == '\n' && !afterCarriageReturn_);
        if (endsLine)
            takeLine(onEvent);
        else if (c != '\n')
            line_ += c;
        afterCarriageReturn_ = c == '\r';
        isTooLong_ = line_.size() + event_.data.size() > maxEventBytes_;
    }
    return !isTooLong_;
}

void SseReader::takeLine(const std::function<void(const ServerSentEvent&)>& onEvent) {
    std::string_view line = line_;
    if (isAtStart_ && line.starts_with("\xef\xbb\xbf"))
        line.remove_prefix(3);
    isAtStart_ = false;
    if (line.empty()) {
        if (hasData_)
            onEvent(event_);
        event_ = {};
        hasFields_ = hasData_ = false;
    } else if (line.front() != ':') { // A comment line, which keeps the connection alive.
        const auto colon = line.find(':');
        auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
        if (value.starts_with(' '))
            value.remove_prefix(1);
        takeField(line.substr(0, colon), value);
    }
    line_.clear();
}

void SseReader::takeField(std::string_view name, std::string_view value) {
    hasFields_ = true;
    if (name == "event") {
        event_.type = value;
    } else if (name == "data") {
        if (hasData_)
            event_.data += '\n';
        event_.data += value;
        hasData_ = true;
    }
}

} // namespace kernelskill::engine
