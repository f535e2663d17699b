/// Starts work a moment after a document was saved; the newest save wins.
#pragma once

#include "lsp-server/transport/event_loop.h"

#include <functional>
#include <map>
#include <stop_token>
#include <string>

namespace kernelskill::lsp {

/// By the URIs of documents, or by what else has one piece of work for all its documents. Belongs
/// to the loop's thread.
class SaveTrigger {
public:
    /// Called on the loop's thread. `run` is asked to stop when the work is not wanted any more.
    using Start = std::function<void(const std::string& uri, const std::stop_source& run)>;
    SaveTrigger(EventLoop& loop, Start start) : loop_(loop), start_(std::move(start)) {}

    /// Editors save several times in a row, with formatters between: the last one counts.
    void saved(const std::string& uri);
    /// The user types: running and waiting work is given up.
    void changed(const std::string& uri);
    void closed(const std::string& uri);

private:
    struct Document {
        Timer debounce;
        std::stop_source run; ///< The latest: of waiting and running.
    };

    EventLoop& loop_;
    Start start_;
    std::map<std::string, Document> documents_;
};

} // namespace kernelskill::lsp
