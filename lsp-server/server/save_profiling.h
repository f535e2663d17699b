/// Profiles, when a document is saved, the kernels that an edit has changed.
#pragma once

#include "lsp-server/documents/snapshot.h"
#include "lsp-server/server/save_trigger.h"
#include "lsp-server/server/server_context.h"

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// Does nothing unless the user has asked for it and trusts the workspace. A kernel counts as
/// changed when what a run of it depends on is not what it was when it was last profiled, or when
/// the document was opened. Belongs to the loop's thread.
class SaveProfiling {
public:
    /// `context` outlives it, and so do tasks of the pool for jobs.
    SaveProfiling(const ServerContext& context, EventLoop& loop)
        : context_(context),
          trigger_(loop, [this](const auto& uri, const auto& run) { start(uri, run); }) {}
    SaveProfiling(const SaveProfiling&) = delete;
    SaveProfiling& operator=(const SaveProfiling&) = delete;

    /// The document has been parsed. The first time, its kernels count as known.
    void parsed(const SnapshotPtr& snapshot);
    void saved(const std::string& uri);
    /// The user types: running and waiting profiles are given up.
    void changed(const std::string& uri) { trigger_.changed(uri); }
    void closed(const std::string& uri);

private:
    struct Document {
        std::map<std::string, std::uint64_t> known; ///< Kernels and their hashes.
    };

    [[nodiscard]] bool isOn(const std::string& uri) const;
    void start(const std::string& uri, const std::stop_source& run);
    void profile(const SnapshotPtr& snapshot, const std::stop_source& run);
    /// The kernels that have changed in `snapshot`; those with a profile count as seen.
    [[nodiscard]] std::vector<const analysis::KernelModel*> changedKernels(const Snapshot& snapshot,
                                                                           Document& document);
    void finished(const SnapshotPtr& snapshot, const analysis::KernelModel& kernel);

    const ServerContext& context_;
    SaveTrigger trigger_;
    std::map<std::string, Document> documents_; ///< Open ones that were parsed.
};

} // namespace kernelskill::lsp
