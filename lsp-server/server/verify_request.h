/// The user's own changes against git: a command, and on save.
#pragma once

#include "lsp-server/server/save_trigger.h"
#include "lsp-server/server/server_context.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <stop_token>
#include <string>

namespace kernelskill::lsp {

/// {uri, kernel?, against?}: judges the kernel, or all that differ, against a revision ("HEAD" by
/// default). Shows a notice and answers as verificationJson().
void verifyCommand(const ServerContext& context, const nlohmann::json& argument,
                   const nlohmann::json& params, Reply& reply, const std::stop_source& stop);

/// Verifies a document against HEAD when it is saved, if the user has asked for it and trusts the
/// workspace. A text that was verified is not verified again. Belongs to the loop's thread.
class SaveVerification {
public:
    /// `context` outlives it, and so do tasks of the pool for jobs.
    SaveVerification(const ServerContext& context, EventLoop& loop)
        : context_(context),
          trigger_(loop, [this](const auto& uri, const auto& run) { start(uri, run); }) {}
    SaveVerification(const SaveVerification&) = delete;
    SaveVerification& operator=(const SaveVerification&) = delete;

    void saved(const std::string& uri);
    void changed(const std::string& uri) { trigger_.changed(uri); }
    void closed(const std::string& uri);

private:
    void start(const std::string& uri, const std::stop_source& run);
    void verify(const SnapshotPtr& snapshot, const std::stop_source& run);

    const ServerContext& context_;
    SaveTrigger trigger_;
    /// The commit, and the text without comments, that were verified last, of each document.
    std::map<std::string, std::string> verified_;
};

} // namespace kernelskill::lsp
