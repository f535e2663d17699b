/// Profiles of the user's own programs: commands, and on save.
#pragma once

#include "lsp-server/server/program_profiles.h"
#include "lsp-server/server/program_scope.h"
#include "lsp-server/server/save_trigger.h"
#include "lsp-server/server/server_context.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

namespace kernelskill::lsp {

/// `kernelskill.profileProgram`: {uri?, name?, build?, details?, kernel?}. Builds and runs the
/// picked program, or the one that is named, in a workspace that the user trusts, and answers as
/// profiledProgramJson(). `build`: false runs what is built; `details`: false leaves out what holds
/// hot kernels back; `kernel` asks that of this kernel alone. What it finds is kept for lenses and
/// for comparison with the next profile. A client that does not show such profiles gets the table
/// as a message, too.
void profileProgramCommand(const ServerContext& context, const nlohmann::json& argument,
                           const nlohmann::json& params, Reply& reply,
                           const std::stop_source& stop);

/// `kernelskill.showProgramProfile`: {uri?, name}. Answers with the last profile of the program, as
/// `kernelskill.profileProgram` did; null if it was not profiled while the server runs.
void showProgramProfileCommand(const ServerContext& context, const nlohmann::json& argument,
                               Reply& reply);

/// Profiles the program of a workspace when a file of it was saved whose code has changed, if the
/// user has asked for it and trusts the workspace; see docs/programs.md. The newest save wins:
/// it ends the build or run of an earlier one. Belongs to the loop's thread.
class SaveProgramProfiling {
public:
    /// `context` outlives it, and so do tasks of the pool for jobs.
    SaveProgramProfiling(const ServerContext& context, EventLoop& loop)
        : context_(context),
          trigger_(loop, [this](const auto& root, const auto& run) { start(root, run); }) {}
    SaveProgramProfiling(const SaveProgramProfiling&) = delete;
    SaveProgramProfiling& operator=(const SaveProgramProfiling&) = delete;

    /// The document's code counts as known.
    void opened(const std::string& uri);
    void saved(const std::string& uri);
    void closed(const std::string& uri) { known_.erase(uri); }

private:
    using Hashes =
        std::map<std::string, std::uint64_t>; ///< Hashes of the code of documents, by URI.
    struct Workspace {
        Hashes saved;    ///< Documents that were saved since the last profile.
        std::string uri; ///< The last one of them.
        bool isRunning = false;
        std::optional<std::stop_source> waiting; ///< A run that begins when the present one ends.
        std::set<std::string> told; ///< Failures that the user has been told of since a success.
    };

    [[nodiscard]] bool isOn(const std::string& uri) const;
    [[nodiscard]] std::uint64_t codeHash(const std::string& uri) const;
    void start(const std::string& root, const std::stop_source& run);
    void profile(Workspace& workspace, const std::string& root, const std::stop_source& run);
    void finished(const std::string& root, const Hashes& seen, const std::stop_token& run,
                  const Result<std::shared_ptr<const ProfiledProgram>>& profiled);

    const ServerContext& context_;
    SaveTrigger trigger_; ///< The keys are the workspaces' roots.
    Hashes known_;
    std::map<std::string, Workspace> workspaces_; ///< By their roots.
};

} // namespace kernelskill::lsp
