#include "lsp-server/server/work_done_progress.h"

#include "analysis/source/json.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds creationDelay{300};
constexpr std::chrono::milliseconds reportInterval{100};

std::string keyOf(const json& token) {
    return token.dump();
}

} // namespace

/// All members but the constants belong to the loop's thread.
struct WorkDoneProgress::State {
    EventLoop& loop;
    Connection& connection;
    json token;
    std::string title;
    std::stop_source stop;
    Timer creation;
    bool isShown = false;
    bool isEnded = false;
    Clock::time_point lastReport;
    std::string message;
    double fraction = 0;

    [[nodiscard]] int percentage() const {
        return static_cast<int>(std::clamp(fraction, 0.0, 1.0) * 100);
    }

    void send(json value) {
        connection.notify("$/progress", {{"token", token}, {"value", std::move(value)}});
    }

    void show() {
        if (isEnded || std::exchange(isShown, true))
            return;
        send({{"kind", "begin"},
              {"title", title},
              {"cancellable", true},
              {"message", message},
              {"percentage", percentage()}});
    }

    void update(std::string newMessage, double newFraction) {
        message = std::move(newMessage);
        fraction = std::max(fraction, newFraction); // Never goes back, as the specification wants.
        const auto now = Clock::now();
        if (!isShown || isEnded || now - lastReport < reportInterval)
            return;
        lastReport = now;
        send({{"kind", "report"}, {"message", message}, {"percentage", percentage()}});
    }

    void finish(std::string last) {
        creation.cancel();
        if (std::exchange(isEnded, true) || !isShown)
            return;
        json value{{"kind", "end"}};
        if (!last.empty())
            value["message"] = std::move(last);
        send(std::move(value));
    }
};

void WorkDoneProgress::report(std::string_view message, double fraction) const {
    state_->loop.post([state = state_, text = std::string(message), fraction]() mutable {
        state->update(std::move(text), fraction);
    });
}

void WorkDoneProgress::end(std::string_view message) const {
    state_->loop.post([state = state_, text = std::string(message)]() mutable {
        state->finish(std::move(text));
    });
}

ProgressRegistry::ProgressRegistry(EventLoop& loop, Connection& connection)
    : loop_(loop), connection_(connection) {}

ProgressRegistry::~ProgressRegistry() = default;

WorkDoneProgress ProgressRegistry::begin(std::string title, const json& params,
                                         std::stop_source stop) {
    std::erase_if(active_, [](const auto& entry) { return entry.second.expired(); });
    WorkDoneProgress progress;
    const bool clientToken = params.is_object() && params.contains("workDoneToken");
    json token = clientToken ? params.at("workDoneToken")
                             : json("kernelskill/" + std::to_string(nextToken_++));
    progress.state_ =
        std::make_shared<WorkDoneProgress::State>(WorkDoneProgress::State{loop_,
                                                                          connection_,
                                                                          std::move(token),
                                                                          std::move(title),
                                                                          std::move(stop),
                                                                          {},
                                                                          false,
                                                                          false,
                                                                          {},
                                                                          {},
                                                                          0});
    active_[keyOf(progress.state_->token)] = progress.state_;
    if (!clientToken && !clientCreates_)
        return progress;
    std::weak_ptr<WorkDoneProgress::State> weak = progress.state_;
    progress.state_->creation = loop_.after(creationDelay, [weak, clientToken] {
        const auto state = weak.lock();
        if (!state || state->isEnded)
            return;
        if (clientToken)
            return state->show();
        state->connection.request("window/workDoneProgress/create", {{"token", state->token}},
                                  [weak](const auto& answer) {
                                      if (const auto shown = weak.lock(); shown && answer)
                                          shown->show();
                                  });
    });
    return progress;
}

void ProgressRegistry::cancel(const json& params) {
    const auto found = active_.find(keyOf(params.at("token")));
    if (found == active_.end())
        return;
    if (const auto state = found->second.lock())
        state->stop.request_stop();
}

} // namespace kernelskill::lsp
