/// Keeps kernels of a folder from being compiled and run before the user trusts it.
#pragma once

#include "lsp-server/transport/connection.h"
#include "lsp-server/transport/event_loop.h"
#include "lsp-server/workspace/workspace.h"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// Belongs to the loop's thread.
class TrustGate {
public:
    /// `onTrusted` is called when the user has come to trust a folder, before anybody who waits.
    TrustGate(EventLoop& loop, Connection& connection, Workspace& workspace,
              std::function<void()> onTrusted);

    /// Called with nullopt if kernels may be run, else with why not and how to allow it.
    using Waiting = std::move_only_function<void(std::optional<std::string>)>;
    /// Asks the user once for each folder, if the client has said nothing of trust. Without an
    /// answer within a minute `then` is called with a refusal; a later answer still counts.
    void whenTrusted(const std::filesystem::path& file, Waiting then);

    /// For a caller that finds documents parsed before their folder was trusted.
    void reload() const { onTrusted_(); }

private:
    struct Question {
        std::vector<Waiting> waiting;
        Timer patience;
    };
    void ask(const std::filesystem::path& folder);
    void answered(const std::filesystem::path& folder, bool isYes);
    /// Answers everybody who waits for `folder`.
    void release(const std::filesystem::path& folder, const std::optional<std::string>& refusal);

    EventLoop& loop_;
    Connection& connection_;
    Workspace& workspace_;
    std::function<void()> onTrusted_;
    std::map<std::filesystem::path, Question> open_;
    std::set<std::filesystem::path> refused_;
};

} // namespace kernelskill::lsp
