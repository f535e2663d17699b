#include "lsp-server/mcp/call_progress.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

constexpr std::chrono::milliseconds reportInterval{100};

/// So little more that nobody sees it: a step without progress is told as well.
constexpr double smallestStep = 1e-6;

} // namespace

std::shared_ptr<CallProgress> CallProgress::of(const json& params, Connection& connection,
                                               std::stop_token stop) {
    json token;
    if (const auto meta = params.find("_meta"); meta != params.end() && meta->is_object())
        token = meta->value("progressToken", json());
    const bool isToken = token.is_string() || token.is_number_integer();
    return std::make_shared<CallProgress>(isToken ? std::move(token) : json(), connection,
                                          std::move(stop));
}

void CallProgress::report(std::string_view message, double fraction) {
    const std::scoped_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (token_.is_null() || isOver_ || stop_.stop_requested() ||
        (sent_ >= 0 && now - last_ < reportInterval))
        return;
    last_ = now;
    sent_ = std::max(std::clamp(fraction, 0.0, 1.0), sent_ + smallestStep);
    connection_.notify("notifications/progress", {{"progressToken", token_},
                                                  {"progress", sent_},
                                                  {"total", 1},
                                                  {"message", std::string(message)}});
}

void CallProgress::end() {
    const std::scoped_lock lock(mutex_);
    isOver_ = true;
}

} // namespace kernelskill::lsp
