/// Another version of a document's program, to compare with.
#pragma once

#include "lsp-server/documents/snapshot.h"

#include <filesystem>
#include <stop_token>
#include <string>

namespace kernelskill::lsp {

struct OldVersion {
    engine::ProgramSource program; ///< It has no model yet.
    std::string called;            ///< "HEAD (1a2b3c4)", "old.cu"
    std::string commit;            ///< Empty for a file.
};

/// The document and the headers that it reads as a revision of its git repository has them.
/// Headers that the revision does not have are as they are now. Errors as textsInRevision().
[[nodiscard]] Result<OldVersion>
versionInRevision(const Snapshot& snapshot, const std::string& revision, std::stop_token stop);

/// The text of `file` in the document's place, with the same headers. InvalidInput if it cannot be
/// read.
[[nodiscard]] Result<OldVersion> versionInFile(const Snapshot& snapshot,
                                               const std::filesystem::path& file);

} // namespace kernelskill::lsp
