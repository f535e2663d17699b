/// notifications/progress of a request that asked for it.
#pragma once

#include "analysis/source/json.h"
#include "lsp-server/transport/connection.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string_view>

namespace kernelskill::lsp {

/// Thread-safe. Nothing is sent if the request has no progress token, after end(), and once it is
/// cancelled.
class CallProgress {
public:
    /// Makes the progress of the request with these params. `connection` outlives it.
    [[nodiscard]] static std::shared_ptr<CallProgress>
    of(const nlohmann::json& params, Connection& connection, std::stop_token stop);

    /// Sends at most a few messages a second. The fraction grows with each, as the protocol asks.
    void report(std::string_view message, double fraction);
    void end();

    CallProgress(nlohmann::json token, Connection& connection, std::stop_token stop)
        : token_(std::move(token)), connection_(connection), stop_(std::move(stop)) {}

private:
    const nlohmann::json token_; ///< Null: none was given.
    Connection& connection_;
    std::stop_token stop_;
    std::mutex mutex_;
    bool isOver_ = false;
    double sent_ = -1;
    std::chrono::steady_clock::time_point last_;
};

} // namespace kernelskill::lsp
