/// The judgements of kernels that were verified while the server runs, for reports.
#pragma once

#include "engine/verification/verification.h"
#include "lsp-server/documents/snapshot.h"

#include <map>
#include <memory>
#include <string>

namespace kernelskill::lsp {

struct KeptJudgement {
    engine::JudgedKernel judged;
    std::string against;    ///< "HEAD (1a2b3c4)"
    std::string definition; ///< The kernel's text at that time, see engine::definitionOf().
};

/// Belongs to the loop's thread.
class KeptJudgements {
public:
    using OfKernels = std::map<std::string, std::shared_ptr<const KeptJudgement>>;

    void keep(const Snapshot& snapshot, const engine::Verification& done,
              const std::string& against);
    /// The judgements of a document by the names of its kernels, also if its text has changed
    /// since.
    [[nodiscard]] OfKernels of(const std::string& uri) const;
    void closed(const std::string& uri) { documents_.erase(uri); }

private:
    std::map<std::string, OfKernels> documents_;
};

} // namespace kernelskill::lsp
