/// $/progress for slow work: created only when the work turns out to be slow, throttled,
/// cancellable.
#pragma once

#include "lsp-server/transport/connection.h"
#include "lsp-server/transport/event_loop.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

/// One piece of work's progress, which must end with end(). Copies share it. Any thread.
class WorkDoneProgress {
public:
    void report(std::string_view message, double fraction) const;
    void end(std::string_view message) const;

private:
    friend class ProgressRegistry;
    struct State;
    std::shared_ptr<State> state_;
};

/// Makes progresses and hears window/workDoneProgress/cancel. Belongs to the loop's thread.
class ProgressRegistry {
public:
    /// `clientCreates`: the client understands window/workDoneProgress/create.
    ProgressRegistry(EventLoop& loop, Connection& connection);
    ~ProgressRegistry();
    void setClientCreates(bool clientCreates) { clientCreates_ = clientCreates; }

    /// Shown after 300 ms. A `workDoneToken` in the request's params is used at once instead of one
    /// of ours. `stop` is asked to stop when the user cancels.
    [[nodiscard]] WorkDoneProgress begin(std::string title, const nlohmann::json& params,
                                         std::stop_source stop);
    void cancel(const nlohmann::json& params);

private:
    EventLoop& loop_;
    Connection& connection_;
    bool clientCreates_ = false;
    std::uint64_t nextToken_ = 1;
    std::map<std::string, std::weak_ptr<WorkDoneProgress::State>> active_;
};

} // namespace kernelskill::lsp
