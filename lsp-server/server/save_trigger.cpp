#include "lsp-server/server/save_trigger.h"

#include <chrono>

namespace kernelskill::lsp {

namespace {

constexpr std::chrono::milliseconds debounceDelay{250};

} // namespace

void SaveTrigger::saved(const std::string& uri) {
    Document& document = documents_[uri];
    document.run.request_stop();
    document.debounce = loop_.after(debounceDelay, [this, uri] {
        const auto found = documents_.find(uri);
        if (found == documents_.end())
            return;
        found->second.run = std::stop_source();
        start_(uri, found->second.run);
    });
}

void SaveTrigger::changed(const std::string& uri) {
    const auto found = documents_.find(uri);
    if (found == documents_.end())
        return;
    found->second.debounce.cancel();
    found->second.run.request_stop();
}

void SaveTrigger::closed(const std::string& uri) {
    changed(uri);
    documents_.erase(uri);
}

} // namespace kernelskill::lsp
